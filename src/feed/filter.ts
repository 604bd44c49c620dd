import type { PublicEvent } from '../../events/public-event.ts';
import { type PublicType, publicTypeNames, publicTypes } from '../../events/public-types.ts';

/** Which events of an account a reader wants. */
export class Filter {
  readonly qrId: string | undefined;
  readonly #types: ReadonlySet<PublicType>;
  /** Equal for filters that let the same events through. */
  readonly key: string;
  readonly wantsScans: boolean;
  /** Types of log entries, other than scans, that can pass. */
  readonly changeTypes: readonly string[];

  /** Without `types`, events of every type pass. */
  constructor({ types = publicTypeNames, qrId }: { types?: readonly PublicType[]; qrId?: string | undefined } = {}) {
    this.qrId = qrId;
    this.#types = new Set(types);
    this.key = `${qrId ?? ''}/${[...this.#types].toSorted().join()}`;
    this.wantsScans = this.#types.has('scan.created');
    this.changeTypes = [...this.#types]
      .flatMap((type): readonly string[] => publicTypes[type].entries)
      .filter((entryType) => entryType !== 'code_scanned');
  }

  matches({ type, qr_id }: Pick<PublicEvent, 'type' | 'qr_id'>): boolean {
    return this.#types.has(type) && (this.qrId === undefined || qr_id === this.qrId);
  }
}
