import { lru } from '../lib/lru.ts';
import { isBot } from './bot.ts';

/** What scanned, as far as its user agent tells. */
export interface Visit {
  readonly device: 'ios' | 'android' | 'desktop';
  readonly browser: 'safari' | 'chrome' | 'samsung_browser' | 'other';
  readonly bot: boolean;
}

/** No browser's name is longer; what follows are lists that apps append. Bounds the work, and the memory kept. */
const LONGEST_READ = 512;
const AGENTS_KEPT = 4096;

const kept = lru<string, Visit>(AGENTS_KEPT);

/** Every visit there can be, so that thousands of kept user agents share a dozen objects. */
const visits = new Map<string, Visit>();

/**
 * Device, browser and whether it is a program, from the user agent alone.
 *
 * - **A program** (`bot`) is none of the devices and browsers it may pretend to be: `desktop`, `other`.
 * - **The device** is what the first comment says, unless that is known to lie: Windows Phone and KaiOS name Android;
 *   iPad browsers in desktop mode name a Macintosh and Samsung's on a large screen (DeX) Linux, and give themselves away
 *   by the browser's name. Safari on an iPad in desktop mode cannot be told from a Mac. All that is neither is `desktop`.
 * - **The browser** is the one its maker ships under that name and no other: a user agent that names anything beside what
 *   Safari, Chrome or Samsung Internet themselves say is of a browser built on them, or of an app's web view, and is
 *   `other`. So no list of other browsers is needed, and tomorrow's is right too.
 *
 * ```ts
 * classify('Mozilla/5.0 (iPhone; …) … Version/17.7 Mobile/15E148 Safari/604.1')  // ios, safari, not a bot
 * ```
 */
export function classify(userAgent: string): Visit {
  const agent = userAgent.length > LONGEST_READ ? cut(userAgent) : userAgent;
  const known = kept.get(agent);
  if (known !== undefined) return known;
  const visit = isBot(agent) ? shared('desktop', 'other', true) : shared(deviceOf(agent), browserOf(agent), false);
  kept.set(agent, visit);
  return visit;
}

/** Copied, because a slice would keep the whole of the long string in memory. */
function cut(userAgent: string): string {
  return Buffer.from(userAgent.slice(0, LONGEST_READ)).toString();
}

function shared(device: Visit['device'], browser: Visit['browser'], bot: boolean): Visit {
  const name = `${device} ${browser} ${bot}`;
  const visit = visits.get(name) ?? Object.freeze({ device, browser, bot });
  visits.set(name, visit);
  return visit;
}

/** They name Android or iPhone for the sake of web sites, and are neither. */
const PRETENDERS = /Windows Phone|IEMobile|KAIOS\/|like Android|Tizen/i;
/** What only browsers on an iPad add to the Macintosh's name: `CriOS/`, `FxiOS/`, …, and a build number of iOS. */
const IPAD_IN_DESKTOP_MODE =
  /\w+iOS\/|\bios@|\bi(?:Pad|Phone|Pod)|\b(?:Mobile|GSA|OPT)\/|AppleWebKit\/6(?!.*Chrome\/).* Brave\b/i;
/** Made for Android alone; their desktop mode names Linux. */
const ANDROID_IN_DESKTOP_MODE = /\b(?:SamsungBrowser|MiuiBrowser|VivoBrowser|HeyTapBrowser)\//i;

function deviceOf(agent: string): Visit['device'] {
  if (PRETENDERS.test(agent)) return 'desktop';
  const platform = platformOf(agent);
  if (/\bi(?:Phone|Pad|Pod)/i.test(platform)) return 'ios';
  if (/\bAndroid|\bAdr\b/i.test(platform) || /\bSilk[/-]/i.test(agent)) return 'android';
  if (/^Macintosh/i.test(platform)) return IPAD_IN_DESKTOP_MODE.test(agent) ? 'ios' : 'desktop';
  if (/^X11/i.test(platform)) return ANDROID_IN_DESKTOP_MODE.test(agent) ? 'android' : 'desktop';
  return 'desktop';
}

/** What every browser of the WebKit family says, and says nothing by. */
const COMMON = new Set(['mozilla', 'applewebkit', 'mobile', 'safari']);
/** Not on televisions and consoles, whose makers build a browser of their own from it; `wv` is an app's web view. */
const CHROME_RUNS_ON = /^(?:Windows|Macintosh|X11|Linux\b.*Android|Android|iPhone|iPad)(?!.*; wv\b)/i;
/** Windows until 2012. Others with the same words are BlackBerry, PlayStation, GNOME Web and Android's old browser. */
const SAFARI_RUNS_ON = /^(?:iPhone|iPad|iPod|Macintosh|Windows)/i;

function browserOf(agent: string): Visit['browser'] {
  const names = productsOf(agent);
  if (!names.has('applewebkit') || !names.has('safari')) return 'other';
  const platform = platformOf(agent);
  const only = (...own: string[]) => [...names].every((name) => COMMON.has(name) || own.includes(name));

  if (names.has('samsungbrowser'))
    return only('samsungbrowser', 'chrome', 'version', 'tv') ? 'samsung_browser' : 'other';
  if (names.has('crios')) return only('crios', 'version') ? 'chrome' : 'other';
  if (names.has('chrome')) return only('chrome') && CHROME_RUNS_ON.test(platform) ? 'chrome' : 'other';
  if (names.has('version')) return only('version') && SAFARI_RUNS_ON.test(platform) ? 'safari' : 'other';
  return 'other';
}

/** The first comment, without its brackets. */
function platformOf(agent: string): string {
  return /^[^(]*\(((?:[^()]|\([^()]*\))*)/.exec(agent)?.[1] ?? '';
}

/** Names of the products, and whatever else stands outside the two comments that all of them have. */
function productsOf(agent: string): Set<string> {
  const words = agent
    .toLowerCase()
    .replace(/\((?:[^()]|\([^()]*\))*\)/, '')
    .replace(/\(khtml,? like gecko\)/, '')
    .replace(/ \([0-9a-f]{6}\)$/, '') // the build of early Chrome on iOS
    .split(' ');
  return new Set(words.filter((word) => word !== '').map((word) => word.split('/', 1)[0] ?? word));
}
