import type { Logger } from '../lib/logger.ts';

/** Logs the first failure of an outage, and its end. */
export class Outage {
  readonly #log: Logger;
  readonly #texts: { begins: string; ends: string };
  #failures = 0;

  constructor(log: Logger, texts: { begins: string; ends: string }) {
    this.#log = log;
    this.#texts = texts;
  }

  failed(detail: object): void {
    if (this.#failures++ === 0) this.#log.warn(detail, this.#texts.begins);
  }

  succeeded(): void {
    if (this.#failures > 0) this.#log.info({ failures: this.#failures }, this.#texts.ends);
    this.#failures = 0;
  }
}
