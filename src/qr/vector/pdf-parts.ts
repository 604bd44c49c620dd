import type { PdfPart } from './pdf-content.ts';
import { type PdfFile, reference } from './pdf-file.ts';

/** The parts of a file by their name, each written once. */
export class PdfParts {
  readonly #file: PdfFile;
  readonly #objects = new Map<string, number>();

  constructor(file: PdfFile) {
    this.#file = file;
  }

  /** Writes the parts that the file does not have yet; returns the resource dictionary that names all of them. */
  add(parts: readonly PdfPart[]): string {
    for (const part of parts) this.#write(part);
    const kinds = Map.groupBy(new Map(parts.map((part) => [part.name, part])).values(), ({ kind }) => kind);
    const entries = [...kinds].map(([kind, own]) => {
      const names = own.map(({ name }) => `/${name} ${reference(this.#objects.get(name) ?? 0)}`);
      return `/${kind}<<${names.join('')}>>`;
    });
    return `<<${entries.join('')}>>`;
  }

  #write({ name, dictionary, stream, mask, uses }: PdfPart): void {
    if (this.#objects.has(name)) return;
    const file = this.#file;
    if (stream === undefined) {
      this.#objects.set(name, file.add(dictionary));
      return;
    }
    const smask = mask === undefined ? '' : `/SMask ${reference(file.addStream(mask.dictionary, mask.stream))}`;
    const resources = uses === undefined ? '' : `/Resources${this.add(uses)}`;
    this.#objects.set(name, file.addStream(`${dictionary}${smask}${resources}`, stream));
  }
}
