import { isbot } from 'isbot';

/**
 * Whether a program asks, rather than a person: crawlers, link previews, monitors, libraries, and whoever says nothing.
 *
 * `isbot` knows their names. Two things it does not know stand around it: that what does not begin like a browser is a
 * program, and that on a phone some of its words are a model's, a carrier's or the name of an app that people scan with.
 */
export function isBot(agent: string): boolean {
  if (!BROWSERS_BEGIN.test(agent) || UNKNOWN_TO_ISBOT.test(agent)) return true;
  return isbot(ON_A_PHONE.test(agent) ? withoutPhoneAndApps(agent) : agent);
}

/** `Mozilla/`, and before the iPhone `Opera/`, the phone itself, or a browser without pictures. */
const BROWSERS_BEGIN =
  /^(?:Mozilla\/\d|Opera\/\d|UCWEB\/|Nokia|SAMSUNG-|SonyEricsson|BlackBerry|LG-|MOT-|DoCoMo\/|KDDI-|Lynx\/|E?Links |w3m\/)/i;

const UNKNOWN_TO_ISBOT = /\bGTmetrix\b|\bYLT\b|\bMiniature\.io\b/;

const ON_A_PHONE =
  /^Mozilla\/5\.0 \((?![^)]*(?:compatible|(?<!cu)bot\b|crawl|spider|http))[^)]*\b(?:iPhone|iPad|iPod|Android)\b/i;

/** Brackets in a model's name included. */
const FIRST_COMMENT = /\((?:[^()]|\([^()]*\))*\)/;

/**
 * Facebook's list (the carrier may be "Google Fi"), WeChat's `Process/tools`, names of Android packages, of news, scanner
 * and ride apps, and of Sogou's browser; its crawler says `spider` besides.
 */
const APPS =
  /\[FB[^\]]*\]?|\bProcess\/tools\b|\bcom\.[\w.]+|\b\w*News\w*\/|\(News\b|\b\w*(?:QR|barcode|scan)\w*|\bGrab\/|\bSogou\w*|\|/gi;

function withoutPhoneAndApps(agent: string): string {
  return agent.replace(FIRST_COMMENT, '(Phone)').replace(APPS, '');
}
