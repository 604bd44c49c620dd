import { linkOf, urlOfLink } from '../../../events/link.ts';
import type { Owner } from '../../../events/owner.ts';
import type { Style } from '../../../events/style.ts';
import type { CodeRequest } from '../../codes/create.ts';
import { lockUsedLogos } from '../../codes/logos.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import { newShortCode } from '../../lib/ids.ts';
import type { Transaction } from '../../lib/sql.ts';
import { hasRoom, type Proportions, tooLarge } from '../../qr/placed-logo.ts';
import { lookOf } from '../../qr/style.ts';

/** Throws 400 for each code whose logo does not exist, or hides too much of the symbol. */
export async function checkLogos(
  tx: Transaction,
  owner: Owner,
  requests: CodeRequest[],
  shortBaseUrl: string,
): Promise<void> {
  const ids = requests.flatMap(({ style }) => style?.logo?.id ?? []);
  if (ids.length === 0) return;
  const logos = await lockUsedLogos(tx, owner, ids);
  const [first, ...rest] = requests.flatMap(({ style, short_code = newShortCode(), domain }, index): FieldError[] => {
    if (style?.logo === undefined) return [];
    const logo = logos.get(style.logo.id);
    if (logo === undefined)
      return [{ index, field: 'style.logo.id', message: `style.logo.id: there is no logo ${style.logo.id}.` }];
    const problem = problemWithLogo(urlOfLink(linkOf(domain, short_code), shortBaseUrl), style, logo);
    return problem === undefined ? [] : [{ index, field: 'style.logo.size', message: `style.logo.size ${problem}` }];
  });
  if (first !== undefined) throw invalid([first, ...rest]);
}

/** What is wrong with the size of a logo; undefined if the symbol of the URL, of which only the length matters, has room. */
export const problemWithLogo = (url: string, style: Style, logo: Proportions): string | undefined =>
  hasRoom(url, lookOf(style), logo) ? undefined : `is too large with its margin: ${tooLarge}. Lower size or margin.`;
