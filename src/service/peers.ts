import type { Change } from '../../events/entry.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';

/**
 * Several processes on one port are one service to its clients: once a change is answered, none of them may serve the old
 * state. So the process that committed a change waits until its peers have applied it.
 */

/** A message between the processes of the service. */
export type PeerMessage =
  | { kind: 'changed'; id: number; entries: Change[] }
  | { kind: 'metrics'; id: number }
  | { kind: 'response'; id: number; metrics?: object }
  | { kind: 'stop' };

type PeerRequest = { kind: 'changed'; entries: Change[] } | { kind: 'metrics' };
type PeerResponse = Extract<PeerMessage, { kind: 'response' }>;

export interface Peer {
  send(message: PeerMessage): void;
}

/**
 * Sends requests to peer processes and matches their responses by id.
 *
 * @example
 * const requests = new PeerRequests();
 * process.on('message', (message) => message.kind === 'response' && requests.receive(message));
 * await requests.send({ kind: 'changed', entries }, peers);
 */
export class PeerRequests {
  readonly #waiting = new Map<number, (response: PeerResponse) => void>();
  #lastId = 0;

  /** Sends the request to all peers; resolves with the responses that arrive within the timeout. */
  async send(request: PeerRequest, peers: Iterable<Peer>): Promise<PeerResponse[]> {
    const responses = await Promise.all([...peers].map((peer) => this.#sendTo(peer, request)));
    return responses.filter((response) => response !== undefined);
  }

  /** To be called with every response that arrives. */
  receive(response: PeerResponse): void {
    this.#waiting.get(response.id)?.(response);
  }

  async #sendTo(peer: Peer, request: PeerRequest): Promise<PeerResponse | undefined> {
    const id = ++this.#lastId;
    const response = Promise.withResolvers<PeerResponse>();
    this.#waiting.set(id, response.resolve);
    try {
      peer.send({ ...request, id });
      return await withTimeout(response.promise, timeouts.peerMs, () => undefined);
    } catch {
      // The process has just died; the one that replaces it reads everything from Postgres.
      return undefined;
    } finally {
      this.#waiting.delete(id);
    }
  }
}

/** Restores the times of entries, which are text in messages between processes. */
export const reviveEntries = (entries: Change[]): Change[] =>
  entries.map((entry) => ({ ...entry, occurred_at: new Date(entry.occurred_at) }));
