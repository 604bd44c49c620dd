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
  | { kind: 'answer'; id: number; metrics?: object }
  | { kind: 'stop' };

type Question = { kind: 'changed'; entries: Change[] } | { kind: 'metrics' };
type Answer = Extract<PeerMessage, { kind: 'answer' }>;

export interface Peer {
  send(message: PeerMessage): void;
}

/**
 * Sends requests to peer processes and matches their answers by id.
 *
 * @example
 * const requests = new PeerRequests();
 * process.on('message', (message) => message.kind === 'answer' && requests.receive(message));
 * await requests.send({ kind: 'changed', entries }, peers);
 */
export class PeerRequests {
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  /** Sends the question to all peers; resolves with the answers that arrive within the timeout. */
  async send(question: Question, peers: Iterable<Peer>): Promise<Answer[]> {
    const answers = await Promise.all([...peers].map((peer) => this.#sendTo(peer, question)));
    return answers.filter((answer) => answer !== undefined);
  }

  /** To be called with every answer that arrives. */
  receive(answer: Answer): void {
    this.#waiting.get(answer.id)?.(answer);
  }

  async #sendTo(peer: Peer, question: Question): Promise<Answer | undefined> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<Answer>();
    this.#waiting.set(id, answer.resolve);
    try {
      peer.send({ ...question, id });
      return await withTimeout(answer.promise, timeouts.peerMs, () => undefined);
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
