import type { NatsConnection } from 'nats';
import type { LogEntry, LogRange } from '../../events/entry.ts';
import { isScan } from '../../events/entry.ts';
import { type Owner, ownerKey } from '../../events/owner.ts';
import type { Mode } from '../../events/plans.ts';
import { audienceOf } from '../../events/public-event.ts';
import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import { lru } from '../lib/lru.ts';
import type { Sql } from '../lib/sql.ts';
import { headOfLog, readRange } from '../log/read.ts';
import { followLog } from '../stream/changes.ts';
import { Channel, type Subscriber } from './channel.ts';
import type { Cursors } from './cursor.ts';
import { type Frame, frameOf } from './frame.ts';

/** How often the log is checked for entries that NATS has not sent. */
const pollMs = 500;
const batchSize = 5_000;
/** Of one channel, about 4,000 scans, and of all channels; beyond that, readers that are behind read the log. */
const maxChannelBytes = 4_000_000;
const maxBytes = 50_000_000;
/** What each channel keeps when there are more than `maxBytes`. */
const keptBytes = 32_000;

interface TailOptions {
  sql: Sql;
  cursors(): Promise<Cursors>;
  /** The connection and the name of the stream; undefined while NATS was never connected. */
  stream(): { nats: NatsConnection; name: string } | undefined;
  log: Logger;
}

/** From the first reader that joins to the last one that leaves. Reads of an earlier one may still be under way. */
interface Running {
  loop: Loop | undefined;
  unfollow: (() => void) | undefined;
  /** Undefined until the end of the log is found. */
  position: number | undefined;
  isReading: boolean;
}

/**
 * The end of the log, followed once for all readers of this process, and only while there are any: from NATS as messages
 * arrive, from the log where NATS has a gap or is unavailable. Positions are never skipped or repeated.
 */
export class Tail {
  readonly #options: TailOptions;
  readonly #channels = new Map<string, Channel>();
  /** Owners of codes, and accounts and modes of keys: neither ever changes. */
  readonly #owners = lru<string, Owner>(10_000);
  #running: Running | undefined;
  #cursors: Cursors | undefined;

  constructor(options: TailOptions) {
    this.#options = options;
  }

  /** The channel of an owner, until `leave`. */
  join(owner: Owner, subscriber: Subscriber): Channel {
    const key = ownerKey(owner);
    const channel = this.#channels.get(key) ?? new Channel(owner);
    if (!this.#channels.has(key)) {
      if (this.#running?.position !== undefined) channel.begin(this.#running.position);
      this.#channels.set(key, channel);
    }
    channel.subscribers.add(subscriber);
    if (this.#running === undefined) this.#start();
    return channel;
  }

  leave(channel: Channel, subscriber: Subscriber): void {
    channel.subscribers.delete(subscriber);
    if (channel.subscribers.size > 0) return;
    this.#channels.delete(ownerKey(channel.owner));
    if (this.#channels.size > 0) return;
    this.#running?.unfollow?.();
    void this.#running?.loop?.stop();
    this.#running = undefined;
  }

  #start(): void {
    const running: Running = { unfollow: undefined, loop: undefined, position: undefined, isReading: false };
    this.#running = running;
    running.loop = every(pollMs, () => this.#readLog(running), {
      onError: (error) =>
        this.#options.log.debug({ error: messageOf(error) }, 'the event feed could not read the log, trying again'),
    });
  }

  /** Reads the log to its end. `running` is what a later start replaces. */
  async #readLog(running: Running): Promise<void> {
    const { sql, stream, log } = this.#options;
    const isCurrent = () => this.#running === running;
    this.#cursors ??= await this.#options.cursors();
    const source = stream();
    if (isCurrent() && running.unfollow === undefined && source !== undefined)
      running.unfollow = followLog(source.nats, source.name, (range) => this.#onMessage(range, running), log);
    running.isReading = true;
    try {
      if (running.position === undefined) {
        const head = await headOfLog(sql);
        if (!isCurrent()) return;
        running.position = head;
        for (const channel of this.#channels.values()) channel.begin(head);
        this.#wake(this.#channels.values());
      }
      for (;;) {
        const range = await readRange(sql, running.position, batchSize);
        if (range.to <= running.position) return;
        await this.#findOwners(range.entries);
        if (!isCurrent()) return;
        this.#dispatch(range, running);
      }
    } finally {
      running.isReading = false;
    }
  }

  #onMessage(range: LogRange, running: Running): void {
    const { position, isReading } = running;
    if (position === undefined || range.to <= position) return;
    const isNext = range.after <= position && !isReading && !range.entries.some((e) => this.#lacksOwner(e));
    if (!isNext) running.loop?.wake();
    else this.#dispatch({ ...range, entries: range.entries.filter((entry) => entry.position > position) }, running);
  }

  /** Gives every channel its events. */
  #dispatch({ to, entries }: LogRange, running: Running): void {
    const cursors = this.#cursors as Cursors;
    const added = new Map<Channel, Frame[]>();
    const ended: { account: string; isMeant(subscriber: Subscriber): boolean; reason: string }[] = [];
    for (const entry of entries) {
      const channel = this.#channelOf(entry);
      const frame = channel && frameOf(entry, channel.owner, cursors);
      if (channel !== undefined && frame !== undefined) {
        const frames = added.get(channel);
        if (frames === undefined) added.set(channel, [frame]);
        else frames.push(frame);
      }
      if (!isScan(entry)) ended.push(...endedBy(entry));
    }
    let total = 0;
    for (const channel of this.#channels.values()) {
      channel.trim();
      channel.add(added.get(channel) ?? [], to);
      if (channel.bytes > maxChannelBytes) channel.keepBytes(maxChannelBytes / 2);
      total += channel.bytes;
    }
    if (total > maxBytes) for (const channel of this.#channels.values()) channel.keepBytes(keptBytes);
    running.position = to;
    const woken = new Set(added.keys());
    for (const { account, isMeant, reason } of ended)
      for (const channel of this.#channels.values()) {
        if (channel.owner.account !== account) continue;
        for (const subscriber of channel.subscribers) if (isMeant(subscriber)) subscriber.ended = reason;
        woken.add(channel);
      }
    this.#wake(woken);
  }

  #wake(channels: Iterable<Channel>): void {
    for (const channel of channels) for (const subscriber of channel.subscribers) subscriber.wake();
  }

  #channelOf(entry: LogEntry): Channel | undefined {
    const audience = audienceOf(entry);
    switch (audience.kind) {
      case 'owner':
        return this.#channels.get(ownerKey(audience));
      case 'code':
        return this.#channelOfOwner(this.#owners.get(audience.code));
      case 'key':
        return this.#channelOfOwner(this.#owners.get(audience.key));
      case 'account':
        return this.#channels.get(ownerKey({ account: audience.account, mode: 'live' }));
      case 'none':
        return undefined;
    }
  }

  #channelOfOwner(owner: Owner | undefined): Channel | undefined {
    return owner && this.#channels.get(ownerKey(owner));
  }

  #lacksOwner(entry: LogEntry): boolean {
    const id = isScan(entry) ? undefined : ownedIdOf(entry);
    return id !== undefined && this.#owners.get(id) === undefined;
  }

  /** Caches the owners of codes and keys that the entries do not name. */
  async #findOwners(entries: LogEntry[]): Promise<void> {
    const ids = new Set(entries.filter((entry) => this.#lacksOwner(entry)).map((entry) => ownedIdOf(entry) as string));
    if (ids.size === 0) return;
    const rows = await this.#options.sql<{ id: string; account: string; mode: Mode }[]>`
      SELECT id, account, mode FROM codes WHERE id = ANY(${[...ids]})
      UNION ALL SELECT id, account, mode FROM api_keys WHERE id = ANY(${[...ids]})`;
    for (const { id, account, mode } of rows) this.#owners.set(id, { account, mode });
  }
}

/** The id of the code or key whose owner an entry belongs to, if the entry does not name the owner. */
function ownedIdOf(entry: LogEntry): string | undefined {
  const audience = audienceOf(entry);
  if (audience.kind === 'code') return audience.code;
  return audience.kind === 'key' ? audience.key : undefined;
}

/** The readers that an entry ends. */
function endedBy(entry: Exclude<LogEntry, { type: 'code_scanned' }>) {
  const account = entry.stream;
  if (entry.type === 'key_revoked') {
    const { key } = entry.data;
    return [{ account, isMeant: (reader: Subscriber) => reader.key === key, reason: 'the key was revoked' }];
  }
  if (entry.type === 'key_rotated') {
    const { key } = entry.data;
    // A new request shows until when the key is valid now.
    return [{ account, isMeant: (reader: Subscriber) => reader.key === key, reason: 'the key was rotated' }];
  }
  if (entry.type === 'member_removed') {
    const { user } = entry.data;
    return [{ account, isMeant: (reader: Subscriber) => reader.user === user, reason: 'the member was removed' }];
  }
  if (entry.type === 'session_ended') {
    const { session } = entry.data;
    return [{ account, isMeant: (reader: Subscriber) => reader.session === session, reason: 'the session was ended' }];
  }
  if (entry.type === 'account_suspended' || entry.type === 'account_deleted')
    return [{ account, isMeant: () => true, reason: 'the account is suspended' }];
  return [];
}
