import type { Service } from '../../api/service.ts';
import type { Origin, SecurityMail } from '../../people/security-changes.ts';
import { describeDevice } from '../device-name.ts';

/** Where people are told about changes of their sign-in; undefined without SMTP_URL. */
export const securityMailOf = ({ mail, addresses }: Pick<Service, 'mail' | 'addresses'>): SecurityMail | undefined =>
  mail === undefined ? undefined : { outbox: mail, publicUrl: addresses.publicUrl };

/** The device that sent a request. */
export const deviceOriginOf = (service: Service, headers: Headers): Omit<Origin, 'actor'> => ({
  now: service.clock(),
  from: describeDevice(headers.get('user-agent') ?? ''),
  mail: securityMailOf(service),
});

/** A person who changes how they sign in, on the device that sent the request. */
export const originOf = (service: Service, headers: Headers, user: string): Origin =>
  Object.assign(deviceOriginOf(service, headers), { actor: user });
