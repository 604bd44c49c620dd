import { type Domain, type DomainProblem, proofPath } from '../../events/domain.ts';
import { DnsUnavailable, type QueryDns } from '../lib/dns.ts';
import { codeOf } from '../lib/errors.ts';
import { parseAddress } from '../lib/ip-address.ts';
import type { IpRanges } from '../lib/ip-range.ts';
import { fetchPinned, urlsAt } from '../lib/pinned-fetch.ts';
import { isPublic, mayCall } from '../lib/public-address.ts';
import { timeouts } from '../lib/timeouts.ts';
import { proofNameOf } from './name.ts';
import { expectedRecord, txtValueOf } from './records.ts';

/** What a check of a proof needs. */
export interface ProofOptions {
  query: QueryDns;
  /** Addresses besides public ones that a domain may lead to. */
  allowed: IpRanges;
  /** Where custom domains must lead: a host name or an address. */
  target: string;
  /** The port of the service that is reached over plain HTTP. */
  port: number;
  /** What the service answers for a token. */
  proofOf(token: string): string;
}

/**
 * The port on which domains are requested: with https, a proxy listens on port 80, and passes the path of the proof on.
 *
 * @example proofPortOf('https://go.example.com'); // 80
 */
export function proofPortOf(shortBaseUrl: string): number {
  const { protocol, port } = new URL(shortBaseUrl);
  return protocol === 'https:' || port === '' ? 80 : Number(port);
}

/** A claim to be checked. */
export type Claim = Pick<Domain, 'name' | 'token'>;

/** What a check has found. */
export interface ProofResult {
  /** What is missing, in words for the owner of the domain; empty if nothing is. */
  problems: DomainProblem[];
  /** False if the DNS did not answer, which says nothing about the domain. */
  isConclusive: boolean;
}

const maxAddresses = 4;
const maxShownValues = 3;
const maxShownCharacters = 100;
/** Longer than every proof. */
const maxResponseBytes = 1_024;

/**
 * Checks both parts of a proof: the TXT record with the token, which only the owner of the DNS zone can set, and that the domain
 * leads to this service.
 */
export async function checkProof(claim: Claim, given: ProofOptions, stopping: AbortSignal): Promise<ProofResult> {
  let isConclusive = true;
  const query: QueryDns = (...asked) =>
    given.query(...asked).catch((error) => {
      isConclusive = false;
      throw error;
    });
  const options = { ...given, query };
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeouts.domainCheckMs)]);
  const [txt, reach] = await Promise.all([findRecord(claim, options, signal), reachService(claim, options, signal)]);
  const problems: DomainProblem[] = [];
  const proofName = proofNameOf(claim.name);
  if (txt !== undefined)
    problems.push({
      check: 'txt',
      expected: `A TXT record at ${proofName} with the value ${txtValueOf(claim.token)}.`,
      found: txt,
    });
  if (reach !== undefined)
    problems.push({
      check: 'reach',
      expected: `${claim.name} leads to this service: ${expectedRecord(claim.name, options.target)}.`,
      found: reach,
    });
  return { problems, isConclusive };
}

const wait = 'A new record can take an hour until it is found';

/** Why the DNS has no answer, as a sentence. */
function dnsProblem(error: unknown, name: string): string {
  const reason = error instanceof DnsUnavailable ? error.message : 'did not answer in time';
  return `We could not look up ${name}: the DNS ${reason}. We will try again.`;
}

/** What is wrong with the TXT record; undefined if it is there. */
async function findRecord({ name, token }: Claim, { query }: ProofOptions, signal: AbortSignal) {
  const proofName = proofNameOf(name);
  let found: string[];
  try {
    found = await query(proofName, 'TXT', signal);
  } catch (error) {
    return dnsProblem(error, proofName);
  }
  // Some forms of DNS providers add quotation marks or spaces.
  const values = found.map((value) => value.trim().replace(/^"(.*)"$/, '$1'));
  if (values.includes(txtValueOf(token))) return undefined;
  if (values.length === 0) return `We found no TXT record at ${proofName}. ${wait}.`;
  const shown = values.slice(0, maxShownValues).map((value) => `"${readable(value)}"`);
  const more = values.length > maxShownValues ? ` and ${values.length - maxShownValues} more` : '';
  const hint = values.some((value) => value.startsWith(txtValueOf('')))
    ? 'That is the value of another claim: replace it, or add a second TXT record'
    : 'If you did not set that, a wildcard record answers: add the expected record at exactly this name';
  return `We found a TXT record at ${proofName}, but with another value: ${shown.join(', ')}${more}. ${hint}. A change can take an hour.`;
}

/** A value of a stranger's DNS record, in a sentence. */
const readable = (value: string) => {
  const printable = value.toWellFormed().replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\u{FFFD}');
  return printable.length > maxShownCharacters
    ? `${printable.slice(0, maxShownCharacters).toWellFormed()}…`
    : printable;
};

/** Why the domain does not lead to this service; undefined if it does. */
async function reachService({ name, token }: Claim, options: ProofOptions, signal: AbortSignal) {
  const { query, allowed, port, proofOf } = options;
  let found: string[];
  try {
    found = (await Promise.all([query(name, 'A', signal), query(name, 'AAAA', signal)])).flat();
  } catch (error) {
    return dnsProblem(error, name);
  }
  if (found.length === 0) return `We found no address for ${name}. ${wait}.`;
  const addresses = found.filter((address) => mayCall(address, allowed)).slice(0, maxAddresses);
  if (addresses.length === 0) return `${name} leads to an address that is not reachable from the internet.`;
  const at = placeOf(name, addresses);
  const url = new URL(`http://${name}:${port}${proofPath}${token}`);
  try {
    const response = await fetchPinned(urlsAt(url, addresses), {
      headers: { host: url.host, 'user-agent': 'Scanlog-Domains/1' },
      signal,
    });
    const text = await beginningOf(response);
    if (response.ok && text.trim() === proofOf(token)) return undefined;
    return `${at}, but ${responseProblem(response.status)}.`;
  } catch (error) {
    return `${at}, but ${connectionProblem(error, signal, port)}.`;
  }
}

/** Where the domain leads. Other addresses than public ones are not shown: they may be of the operator's network. */
function placeOf(name: string, addresses: string[]): string {
  const shown = addresses.filter((text) => {
    const address = parseAddress(text);
    return address !== null && isPublic(address);
  });
  return shown.length === 0 ? `${name} has an address` : `${name} leads to ${shown.join(' and ')}`;
}

function responseProblem(status: number): string {
  if (status >= 300 && status < 400)
    return `a server there answers with a redirect (${status}): it must answer ${proofPath} over plain http, without a redirect`;
  return status < 200 || status > 299
    ? `a server there answers with an error (${status}): it is another one, or it keeps ${proofPath} from this service`
    : 'another server answers there';
}

function connectionProblem(error: unknown, signal: AbortSignal, port: number): string {
  if (signal.aborted) return `nothing there answers on port ${port} in time`;
  return codeOf(error) === 'ECONNREFUSED'
    ? `nothing there listens on port ${port}`
    : `there is no valid response on port ${port}`;
}

/** The beginning of a response, which may be endless. */
async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  // Leaving the loop closes the connection.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk.subarray(0, maxResponseBytes), { stream: true });
    if (text.length >= maxResponseBytes) break;
  }
  return text;
}
