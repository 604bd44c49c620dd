import { lru } from '../lib/lru.ts';
import { isBot } from './bot.ts';

/** The client of a scan, as classified from its user agent. */
export interface Visit {
  readonly device: 'ios' | 'android' | 'desktop';
  readonly browser: 'safari' | 'chrome' | 'samsung_browser' | 'other';
  readonly bot: boolean;
}

/** Browsers send less; longer user agents end with lists that apps append. Bounds CPU time and cache memory. */
const maxAgentLength = 512;
const maxCachedAgents = 4096;

const cache = lru<string, Visit>(maxCachedAgents);

/** One object for each combination, so that thousands of cached user agents share a dozen. */
const sharedVisits = new Map<string, Visit>();

/**
 * Classifies a user agent by device, browser and whether it is a bot.
 *
 * - **Bots** are always `desktop` and `other`, whatever device and browser they claim.
 * - **The device** comes from the first comment, with exceptions: Windows Phone and KaiOS claim Android and count as
 *   `desktop`. iPad browsers in desktop mode claim a Macintosh, and Samsung's on a large screen (DeX) Linux; their browser
 *   name reveals them. Safari on an iPad in desktop mode is indistinguishable from a Mac. Everything else is `desktop`.
 * - **The browser** is Safari, Chrome or Samsung Internet only if the user agent contains nothing that these do not send
 *   themselves. Browsers built on them and web views in apps add a name and are `other`, which needs no list of them.
 *
 * ```ts
 * classify('Mozilla/5.0 (iPhone; …) … Version/17.7 Mobile/15E148 Safari/604.1')  // ios, safari, not a bot
 * ```
 */
export function classify(userAgent: string): Visit {
  const agent = userAgent.length > maxAgentLength ? truncated(userAgent) : userAgent;
  const cached = cache.get(agent);
  if (cached !== undefined) return cached;
  const visit = isBot(agent)
    ? sharedVisit('desktop', 'other', true)
    : sharedVisit(deviceOf(agent), browserOf(agent), false);
  cache.set(agent, visit);
  return visit;
}

/** Copies, because a slice would keep the whole string in memory. */
function truncated(userAgent: string): string {
  return Buffer.from(userAgent.slice(0, maxAgentLength)).toString();
}

function sharedVisit(device: Visit['device'], browser: Visit['browser'], bot: boolean): Visit {
  const name = `${device} ${browser} ${bot}`;
  const visit = sharedVisits.get(name) ?? Object.freeze({ device, browser, bot });
  sharedVisits.set(name, visit);
  return visit;
}

/** They claim Android or iPhone for compatibility with web sites, and are neither. */
const claimsOtherPlatform = /Windows Phone|IEMobile|KAIOS\/|like Android|Tizen/i;
/** Only browsers on an iPad add these to a Macintosh user agent: `CriOS/`, `FxiOS/`, …, or an iOS build number. */
const iPadInDesktopMode =
  /\w+iOS\/|\bios@|\bi(?:Pad|Phone|Pod)|\b(?:Mobile|GSA|OPT)\/|AppleWebKit\/6(?!.*Chrome\/).* Brave\b/i;
/** Exist for Android only; their desktop mode claims Linux. */
const androidInDesktopMode = /\b(?:SamsungBrowser|MiuiBrowser|VivoBrowser|HeyTapBrowser)\//i;

function deviceOf(agent: string): Visit['device'] {
  if (claimsOtherPlatform.test(agent)) return 'desktop';
  const platform = platformOf(agent);
  if (/\bi(?:Phone|Pad|Pod)/i.test(platform)) return 'ios';
  if (/\bAndroid|\bAdr\b/i.test(platform) || /\bSilk[/-]/i.test(agent)) return 'android';
  if (/^Macintosh/i.test(platform)) return iPadInDesktopMode.test(agent) ? 'ios' : 'desktop';
  if (/^X11/i.test(platform)) return androidInDesktopMode.test(agent) ? 'android' : 'desktop';
  return 'desktop';
}

/** In the user agent of every WebKit and Chromium browser, so they identify none. */
const commonNames = new Set(['mozilla', 'applewebkit', 'mobile', 'safari']);
/** Televisions and consoles have vendor browsers built on Chromium; `wv` is a web view in an app. */
const chromePlatforms = /^(?:Windows|Macintosh|X11|Linux\b.*Android|Android|iPhone|iPad)(?!.*; wv\b)/i;
/** On Windows until 2012. BlackBerry, PlayStation, GNOME Web and Android's old browser send the same names. */
const safariPlatforms = /^(?:iPhone|iPad|iPod|Macintosh|Windows)/i;

function browserOf(agent: string): Visit['browser'] {
  const names = productsOf(agent);
  if (!names.has('applewebkit') || !names.has('safari')) return 'other';
  const platform = platformOf(agent);
  const hasOnly = (...allowed: string[]) => [...names].every((name) => commonNames.has(name) || allowed.includes(name));

  if (names.has('samsungbrowser'))
    return hasOnly('samsungbrowser', 'chrome', 'version', 'tv') ? 'samsung_browser' : 'other';
  if (names.has('crios')) return hasOnly('crios', 'version') ? 'chrome' : 'other';
  if (names.has('chrome')) return hasOnly('chrome') && chromePlatforms.test(platform) ? 'chrome' : 'other';
  if (names.has('version')) return hasOnly('version') && safariPlatforms.test(platform) ? 'safari' : 'other';
  return 'other';
}

/** The content of the first comment. */
function platformOf(agent: string): string {
  return /^[^(]*\(((?:[^()]|\([^()]*\))*)/.exec(agent)?.[1] ?? '';
}

/** The lower-case product names, and all other words outside the two comments that every browser sends. */
function productsOf(agent: string): Set<string> {
  const words = agent
    .toLowerCase()
    .replace(/\((?:[^()]|\([^()]*\))*\)/, '')
    .replace(/\(khtml,? like gecko\)/, '')
    .replace(/ \([0-9a-f]{6}\)$/, '') // the build number of early Chrome on iOS
    .split(' ');
  return new Set(words.filter((word) => word !== '').map((word) => word.split('/', 1)[0] ?? word));
}
