import { useState } from 'preact/hooks';
import type { ListedQrCode } from '../types.ts';

/** Codes that the user has selected, also on other pages of the list. */
export interface Selection {
  codes: ListedQrCode[];
  has(code: ListedQrCode): boolean;
  set(codes: ListedQrCode[], isSelected: boolean): void;
  clear(): void;
}

/** `shown` are the codes of the current page, whose newest state is known. */
export function useSelection(shown: ListedQrCode[]): Selection {
  const [selected, setSelected] = useState<ReadonlyMap<string, ListedQrCode>>(new Map());
  const current = new Map(shown.map((code) => [code.id, code]));
  return {
    codes: [...selected.values()].map((code) => current.get(code.id) ?? code),
    has: ({ id }) => selected.has(id),
    set: (codes, isSelected) =>
      setSelected((before) => {
        const after = new Map(before);
        for (const code of codes) {
          if (isSelected) after.set(code.id, code);
          else after.delete(code.id);
        }
        return after;
      }),
    clear: () => setSelected(new Map()),
  };
}
