import type { Owner } from '../../events/owner.ts';
import type { CodeRequest } from '../codes/create.ts';
import { lockUsedLogos } from '../codes/logos.ts';
import { type FieldError, invalid } from '../lib/errors.ts';
import { newShortCode } from '../lib/ids.ts';
import type { Transaction } from '../log/connect.ts';
import { LogoTooLarge, symbolOf } from '../qr/placed-logo.ts';
import { lookOf } from '../qr/style.ts';

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
  const [first, ...rest] = requests.flatMap(({ style, short_code = newShortCode() }, index): FieldError[] => {
    if (style?.logo === undefined) return [];
    const logo = logos.get(style.logo.id);
    if (logo === undefined)
      return [{ index, field: 'style.logo.id', message: `style.logo.id: there is no logo ${style.logo.id}.` }];
    try {
      // Only the length of a short code that is not known yet matters.
      symbolOf(`${shortBaseUrl}/${short_code}`, lookOf(style), logo);
      return [];
    } catch (error) {
      if (!(error instanceof LogoTooLarge)) throw error;
      const message = `style.logo.size is too large with its margin: ${error.message}. Lower size or margin.`;
      return [{ index, field: 'style.logo.size', message }];
    }
  });
  if (first !== undefined) throw invalid([first, ...rest]);
}
