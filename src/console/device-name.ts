/** Rules in the order in which they are tried: browsers also name those that they derive from. */
const devices: [RegExp, string][] = [
  [/\biPad\b/, 'iPad'],
  [/\biPhone\b/, 'iPhone'],
  [/\bAndroid\b(?=.*\bMobile\b)/, 'Android phone'],
  [/\bAndroid\b/, 'Android tablet'],
  [/\bCrOS\b/, 'Chromebook'],
  [/\bMacintosh\b/, 'Mac'],
  [/\bWindows\b/, 'Windows computer'],
  [/\bLinux\b/, 'Linux computer'],
];
const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const nameBy = (rules: [RegExp, string][], userAgent: string, otherwise: string) =>
  rules.find(([pattern]) => pattern.test(userAgent))?.[1] ?? otherwise;

/** Names of device and browser by which users recognize their sessions. */
export const describeDevice = (userAgent: string): { device: string; browser: string } => ({
  device: nameBy(devices, userAgent, 'Unknown device'),
  browser: nameBy(browsers, userAgent, 'Unknown browser'),
});
