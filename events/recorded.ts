/** Who caused an event: the id of a key or person, the operator, or the service itself. */
export type Actor = string;
export const operator: Actor = 'operator';
export const service: Actor = 'scanlog';

/** An event that is not yet appended to the log. */
export interface NewEvent<E> {
  stream: string;
  /** The stream's version after this event; the append fails unless the stream is one version behind. */
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

interface PositionedEnvelope extends Envelope {
  position: number;
}

/** An event without its position, which it gets when it is appended. */
export type Pending<E> = E & Envelope;

/** An event with its position in the log. */
export type Recorded<E> = E & PositionedEnvelope;
