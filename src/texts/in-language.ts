import { defaultLanguage, type Language, languages } from '../../events/languages.ts';
import { acceptedTags } from '../../events/targeting/languages.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { pt } from './pt.ts';
import type { Texts } from './texts.ts';
import { tr } from './tr.ts';
import { zh } from './zh.ts';

const texts: Record<Language, Texts> = { ar, de, en, es, fr, it, ja, nl, pl, pt, tr, zh };

const isLanguage = (tag: string): tag is Language => languages.some((language) => language === tag);

/** English for a language that we do not have, such as of an event that a newer version wrote. */
export const languageNamed = (tag: string): Language => (isLanguage(tag) ? tag : defaultLanguage);

export const textsIn = (language: string): Texts => texts[languageNamed(language)];

/** The first language of a reader that we have words for. */
export const languageOf = (headers: Headers): Language =>
  acceptedTags(headers.get('accept-language') ?? '').find(isLanguage) ?? defaultLanguage;

/** For dates and numbers: days come before months in English, too. */
export const localeOf = (language: string): string => (language === 'en' ? 'en-GB' : language);
