/** Who did it: a key's id, the operator at the command line, or the service by itself. */
export type Actor = string;
export const operator: Actor = 'operator';
export const service: Actor = 'scanlog';

/** An event before it has its place in the log. */
export interface NewEvent<E> {
  stream: string;
  /** The version the stream has with this event; the one before must be the last that is there. */
  version: number;
  event: E;
}

interface Envelope {
  id: string;
  stream: string;
  version: number;
  actor: Actor;
  occurred_at: Date;
}

interface PlacedEnvelope extends Envelope {
  position: number;
}

/** An event that is complete but for its position, which it gets as it is appended. */
export type Pending<E> = E & Envelope;

/** An event with its place in the log. */
export type Recorded<E> = E & PlacedEnvelope;
