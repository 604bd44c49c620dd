/** Given short codes are compared without regard to case: phones capitalize what people type. */
export const foldShortCode = (shortCode: string): string => shortCode.toLowerCase();

const generated = /^[1-9A-HJ-NP-Za-km-z]{7}$/;
const word = /^([A-Z]?[a-z]+|[A-Z]+)$/;

/**
 * Whether a short code is compared without regard to case: if the owner chose it, or it is on a custom domain. Earlier
 * versions did not record the former (null): there, seven base58 characters count as generated, unless they are one plain word,
 * which hardly any generated code is. The SQL function `folded_given_code` has the same rule.
 */
export const isGiven = (code: { short_code: string; short_code_given: boolean | null }): boolean =>
  code.short_code_given ?? (!generated.test(code.short_code) || word.test(code.short_code));
