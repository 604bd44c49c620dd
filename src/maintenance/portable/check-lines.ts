import type { StoredEvent } from '../../../events/catalogue.ts';
import type { Mode } from '../../../events/plans.ts';
import type { Recorded } from '../../../events/recorded.ts';
import { messageOf } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { type Row, recorded } from '../../log/read.ts';
import { parseLine } from '../compressed-lines.ts';

/** An event as an account file has it. */
export type EventLine = Omit<Row, 'occurred_at'> & { occurred_at: string };

export type FileEntry = { position: number; event: EventLine } | { position: number; scan: string };

/** An entry of a line; throws for a line that is neither an event nor a scan. */
export function entryOf(line: string): FileEntry {
  if (!line.startsWith('{')) return { position: Number(line.slice(0, line.indexOf('\t'))), scan: line };
  const event = parseLine<EventLine>(line);
  if (event === undefined || !isEventLine(event)) throw new Error('it has an event in an unknown format');
  return { position: event.position, event };
}

const isEventLine = ({ position, id, stream, version, type, schema, data, actor, occurred_at }: EventLine) =>
  [position, version, schema].every((number) => Number.isSafeInteger(number) && number >= 0) &&
  [id, stream, type, actor, occurred_at].every((text) => typeof text === 'string') &&
  typeof data === 'object' &&
  !Number.isNaN(Date.parse(occurred_at));

/** The fields of events/scan-line.ts. */
const scanPattern =
  /^\d{1,15}\t(qr_\w{1,60})\t[tf]\t(acct_\w{1,60})\t(live|test)\tscan_\w{1,60}\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\t(?:[^\t]*\t){5}[tf]\t[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\t\d{1,9}\t[^\t]*\t[^\t]*$/;

/**
 * Checks that the entries of a file are the history of one account: in the order of their positions, each stream from its first
 * version on without a gap, scans after the creation of their codes. Keeps the version and the mode of each code.
 */
export class EntryChecks {
  readonly #account: string;
  readonly #versions = new Map<string, number>();
  readonly #modes = new Map<string, Mode>();
  #position = 0;

  constructor(account: string) {
    this.#account = account;
  }

  /** The event of an entry, or undefined for a scan; throws if it does not belong there. */
  add(entry: FileEntry): Recorded<StoredEvent> | undefined {
    if (!(entry.position > this.#position)) throw new Error('its entries are not in the order of their positions');
    this.#position = entry.position;
    if ('event' in entry) return this.#addEvent(entry.event);
    const [, code = '', account, mode] = scanPattern.exec(entry.scan) ?? [];
    if (account !== this.#account || this.#modes.get(code) !== mode)
      throw new Error(`the scan at position ${entry.position} is not one of this account`);
    return undefined;
  }

  /** Whether the account has this code. */
  hasCode(code: string): boolean {
    return this.#modes.has(code);
  }

  get isEmpty(): boolean {
    return this.#versions.size === 0;
  }

  #addEvent(line: EventLine): Recorded<StoredEvent> {
    const event = this.#read(line);
    const { stream, version } = event;
    if (version !== (this.#versions.get(stream) ?? 0) + 1)
      throw new Error(`version ${version} of ${stream} does not follow the one before`);
    if (version === 1 && !this.#isBegun(event)) throw new Error(`${stream} does not belong to ${this.#account}`);
    if (event.type === 'erased' || event.type === 'account_deleted' || event.type === 'code_erased')
      throw new Error(`${stream} is erased`);
    this.#versions.set(stream, version);
    return event;
  }

  #read(line: EventLine): Recorded<StoredEvent> {
    try {
      return recorded({ ...line, occurred_at: new Date(line.occurred_at) });
    } catch (error) {
      throw new Error(`the event at position ${line.position} cannot be read: ${messageOf(error)}`);
    }
  }

  #isBegun(event: Recorded<StoredEvent>): boolean {
    if (event.type === 'account_created') return event.stream === this.#account;
    if (event.type !== 'code_created' || !isId('qr', event.stream)) return false;
    this.#modes.set(event.stream, event.data.mode);
    return event.data.account === this.#account;
  }
}
