import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { Refusal } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { parseAddress } from '../lib/ip-address.ts';
import { reachOf } from '../lib/private-host.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { noteChange, type Origin } from './security-changes.ts';

/** Bounds the list of passkeys of a person, which has no pages. */
const maxPasskeys = 20;
const serviceName = 'Scanlog';

/** The site that passkeys belong to: its host name, and the only origin that may use them. */
export interface Site {
  id: string;
  origin: string;
}

/** The site of passkeys at a public URL, or why browsers do not offer any there. */
export function siteOf(publicUrl: string): Site | { reason: string } {
  const { protocol, hostname, origin } = new URL(publicUrl);
  if (parseAddress(hostname.replace(/^\[|\]$/g, '')) !== null)
    return { reason: 'Passkeys need a host name: the public URL of this service has an address instead.' };
  if (protocol !== 'https:' && reachOf(hostname) !== 'computer')
    return { reason: 'Passkeys need HTTPS: the public URL of this service begins with http:.' };
  return { id: hostname, origin };
}

export interface Passkey {
  id: string;
  name: string;
  created_at: Date;
  last_used_at: Date | null;
}

/** The passkeys of a person, oldest first. */
export const listPasskeys = (sql: Queryable, user: string): Promise<Passkey[]> =>
  sql<Passkey[]>`
    SELECT id, name, created_at, last_used_at FROM user_passkeys WHERE user_id = ${user} ORDER BY created_at, id`;

interface Owner {
  id: string;
  name: string;
  email: string;
}

/** What the browser makes a new passkey with. Throws 409 if the person has too many. */
export async function registrationOptions(
  sql: Sql,
  site: Site,
  { id, name, email }: Owner,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  const known = await sql<{ credential: string; transports: AuthenticatorTransport[] }[]>`
    SELECT credential, transports FROM user_passkeys WHERE user_id = ${id}`;
  if (known.length >= maxPasskeys) throw tooMany();
  return generateRegistrationOptions({
    rpName: serviceName,
    rpID: site.id,
    userID: new TextEncoder().encode(id),
    userName: email,
    userDisplayName: name,
    attestationType: 'none',
    excludeCredentials: known.map(({ credential, transports }) => ({ id: credential, transports })),
    // Discoverable, so that people need not type an address; verified by a PIN or a finger, so that it needs no second factor.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

const tooMany = () => new Refusal('conflict', `You may have ${maxPasskeys} passkeys: remove one first.`);

/** Stores the passkey that a browser made; undefined if it is not valid. */
export async function addPasskey(
  sql: Sql,
  site: Site,
  {
    user,
    challenge,
    name,
    response,
  }: { user: string; challenge: string; name: string; response: RegistrationResponseJSON },
  origin: Origin,
): Promise<Passkey | undefined> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const verified = await orUndefined(() =>
    verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
    }),
  );
  if (verified?.registrationInfo === undefined) return undefined;
  const { id: credential, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  const { now } = origin;
  return sql.begin(async (tx) => {
    const [stored] = await tx<Passkey[]>`
      INSERT INTO user_passkeys (id, user_id, credential, name, public_key, counter, transports, created_at)
      SELECT ${newId('pk', now.getTime())}, ${user}, ${credential}, ${name}, decode(${Buffer.from(publicKey).toString('hex')}, 'hex'),
        ${counter}, ${transports}::text[], ${now}
      WHERE (SELECT count(*) FROM user_passkeys WHERE user_id = ${user}) < ${maxPasskeys}
      ON CONFLICT (credential) DO NOTHING
      RETURNING id, name, created_at, last_used_at`;
    if (stored === undefined) throw tooMany();
    await noteChange(tx, { user, change: 'passkey_added', detail: name }, origin);
    return stored;
  });
}

/** The options with which the browser requests one of its passkeys. */
export async function signInOptions(site: Site): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  return generateAuthenticationOptions({ rpID: site.id, userVerification: 'required' });
}

interface StoredPasskey {
  id: string;
  user_id: string;
  public_key: Uint8Array;
  counter: number;
  transports: AuthenticatorTransport[];
}

/** The person whose passkey has answered a challenge; undefined if the response is not valid. */
export async function personOfPasskey(
  sql: Sql,
  site: Site,
  { challenge, response }: { challenge: string; response: AuthenticationResponseJSON },
  now: Date,
): Promise<string | undefined> {
  const [passkey] = await sql<StoredPasskey[]>`
    SELECT id, user_id, public_key, counter, transports FROM user_passkeys WHERE credential = ${response.id}`;
  if (passkey === undefined) return undefined;
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const verified = await orUndefined(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
      credential: {
        id: response.id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: passkey.counter,
        transports: passkey.transports,
      },
    }),
  );
  if (verified?.verified !== true) return undefined;
  await sql`
    UPDATE user_passkeys SET counter = ${verified.authenticationInfo.newCounter}, last_used_at = ${now}
    WHERE id = ${passkey.id}`;
  return passkey.user_id;
}

/** The library throws for whatever is not valid. What it throws is of no use to the person. */
async function orUndefined<T>(verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify();
  } catch {
    return undefined;
  }
}

/** False if the person has no such passkey. */
export const renamePasskey = async (
  sql: Queryable,
  { user, id, name }: { user: string; id: string; name: string },
): Promise<Passkey | undefined> => {
  const [renamed] = await sql<Passkey[]>`
    UPDATE user_passkeys SET name = ${name} WHERE id = ${id} AND user_id = ${user}
    RETURNING id, name, created_at, last_used_at`;
  return renamed;
};

/** False if the person has no such passkey. Throws 409 if nothing else signs the person in. */
export const removePasskey = (sql: Sql, { user, id }: { user: string; id: string }, origin: Origin): Promise<boolean> =>
  sql.begin(async (tx) => {
    // Two removals at the same time must not leave the person without any.
    await tx`SELECT FROM users WHERE id = ${user} FOR UPDATE`;
    const [ways] = await tx<{ others: number }[]>`
      SELECT (u.password_hash IS NOT NULL)::int
        + (SELECT count(*) FROM user_identities i WHERE i.user_id = u.id)::int
        + (SELECT count(*) FROM user_passkeys p WHERE p.user_id = u.id AND p.id <> ${id})::int AS others
      FROM users u WHERE u.id = ${user}`;
    const [removed] = await tx<{ name: string }[]>`
      DELETE FROM user_passkeys WHERE id = ${id} AND user_id = ${user} RETURNING name`;
    if (removed === undefined) return false;
    if (ways?.others === 0)
      throw new Refusal(
        'conflict',
        'This passkey is your only way to sign in: set a password or add another passkey first.',
      );
    await noteChange(tx, { user, change: 'passkey_removed', detail: removed.name }, origin);
    return true;
  });
