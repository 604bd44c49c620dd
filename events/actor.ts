import type { Actor } from './recorded.ts';

/** Long enough for the names of known clients, short enough for a line of the history. */
const maxClientLength = 40;

/**
 * The name of a client as actors have it: lower-case letters, digits, `.`, `_` and `-`. A client chooses its name itself, so it
 * must not be able to look like another actor. Undefined if nothing of the name is left.
 *
 * @example clientName('Claude Code (beta)') // 'claude-code-beta'
 */
export function clientName(given: string): string | undefined {
  const cleaned = given
    // Enough for the result, however long the name is.
    .slice(0, 10 * maxClientLength)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+/g, '')
    .slice(0, maxClientLength)
    .replaceAll(/[._-]+$/g, '');
  return cleaned === '' ? undefined : cleaned;
}

/** A program that acts with a key: `key_…/claude-code`. `client` is a `clientName`. */
export const clientActor = (key: string, client: string): Actor => `${key}/${client}`;

/** The key, `operator` or `scanlog`, and the client that acts with the key. */
export function actorParts(actor: Actor): { id: string; client: string | undefined } {
  const [id = '', client] = actor.split('/');
  return { id, client };
}

/** Whether what `actor` did counts as done by `by`: what the clients of a key did was done by the key. */
export const isDoneBy = (actor: Actor, by: Actor): boolean => actor === by || actor.startsWith(`${by}/`);

/** An actor as clients of the API may send it. */
export const ownActorPattern = `^(usr_[0-9A-Za-z]+|key_[0-9A-Za-z]+(/[a-z0-9._-]{1,${maxClientLength}})?)$`;
