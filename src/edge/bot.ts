import { isbot } from 'isbot';

/**
 * Whether the user agent is a program's: a crawler, link preview, monitor or HTTP library, or an empty user agent.
 *
 * Adds two rules to `isbot`. An agent that does not begin like a browser's is a bot. On a phone, the names of models,
 * carriers and scanner apps are removed first, because some contain words that `isbot` matches.
 */
export function isBot(agent: string): boolean {
  if (!browserPrefix.test(agent) || botsMissingFromIsbot.test(agent)) return true;
  return isbot(phoneAgent.test(agent) ? withoutModelAndApps(agent) : agent);
}

/** `Mozilla/`; older phones begin with `Opera/` or the model, and text browsers with their own name. */
const browserPrefix =
  /^(?:Mozilla\/\d|Opera\/\d|UCWEB\/|Nokia|SAMSUNG-|SonyEricsson|BlackBerry|LG-|MOT-|DoCoMo\/|KDDI-|Lynx\/|E?Links |w3m\/)/i;

const botsMissingFromIsbot = /\bGTmetrix\b|\bYLT\b|\bMiniature\.io\b/;

const phoneAgent =
  /^Mozilla\/5\.0 \((?![^)]*(?:compatible|(?<!cu)bot\b|crawl|spider|http))[^)]*\b(?:iPhone|iPad|iPod|Android)\b/i;

/** May contain one level of nested parentheses, which some model names have. */
const firstComment = /\((?:[^()]|\([^()]*\))*\)/;

/**
 * Facebook's bracketed list (it may contain the carrier "Google Fi"), WeChat's `Process/tools`, Android package names,
 * news, scanner and ride apps, and Sogou's browser. Sogou's crawler still matches by its word `spider`.
 */
const appNames =
  /\[FB[^\]]*\]?|\bProcess\/tools\b|\bcom\.[\w.]+|\b\w*News\w*\/|\(News\b|\b\w*(?:QR|barcode|scan)\w*|\bGrab\/|\bSogou\w*|\|/gi;

function withoutModelAndApps(agent: string): string {
  return agent.replace(firstComment, '(Phone)').replace(appNames, '');
}
