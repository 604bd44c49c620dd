/** The languages that shared pages, reports and alerts can have. */
export const languages = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt', 'tr', 'zh'] as const;
export type Language = (typeof languages)[number];

/** Of what was created before it had a language, or whose reader has none of these. */
export const defaultLanguage: Language = 'en';

/** Those whose letters the fonts of PDF files have. */
export const pdfLanguages: readonly Language[] = ['de', 'en', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'tr'];
