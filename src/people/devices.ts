import { timingSafeEqual } from 'node:crypto';
import { newSecret } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';

/** People whose sign-ins one device remembers, the latest first. */
const maxPeople = 5;

/** A browser in which people signed in before, as its long-lived cookie says. */
export interface Device {
  id: string;
  /** One signature for each person who signed in. */
  signatures: string[];
}

const signatureOf = ({ tokenOf }: SecretBox, device: string, user: string) => tokenOf(`device/${device}/${user}`);

/** The device of a cookie; undefined if there is none, or if it is malformed. */
export function readDevice(cookie: string | undefined): Device | undefined {
  if (cookie === undefined || !/^[0-9A-Za-z]{43}(\.[\w-]{22}){1,5}$/.test(cookie)) return undefined;
  const [id = '', ...signatures] = cookie.split('.');
  return { id, signatures };
}

/** Whether the person signed in on the device before. No one can claim that without SECRET_KEY. */
export function isKnownDevice(box: SecretBox, device: Device | undefined, user: string): device is Device {
  if (device === undefined) return false;
  const own = Buffer.from(signatureOf(box, device.id, user));
  return device.signatures.some((signature) => timingSafeEqual(Buffer.from(signature), own));
}

/** The cookie of the device after the person has signed in. */
export function deviceCookieOf(box: SecretBox, device: Device | undefined, user: string): string {
  const id = device?.id ?? newSecret();
  const own = signatureOf(box, id, user);
  const others = (device?.signatures ?? []).filter((signature) => signature !== own);
  return [id, own, ...others.slice(0, maxPeople - 1)].join('.');
}
