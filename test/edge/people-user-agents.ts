/** User agents of people in addition to the sample, each with the reason why it is listed. */

const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const iPhone = `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) ${webkit}`;
const iPad = `Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) ${webkit}`;
const macWebkit = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit}`;
const macBlink = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${blink}`;
const android = `Mozilla/5.0 (Linux; Android 10; K) ${blink}`;
const webView = `Mozilla/5.0 (Linux; Android 14; SM-S918B Build/UP1A.231005.007; wv) ${blink} Version/4.0 Chrome/125.0.6422.113 Mobile Safari/537.36`;
const windows = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink}`;
const linux = `Mozilla/5.0 (X11; Linux x86_64) ${blink}`;

/** Description, expected classification, user agent. */
export const people: [string, string, string][] = [
  // The browsers themselves.
  ['Safari on an iPad', 'ios safari', `${iPad} Version/17.5 Mobile/15E148 Safari/604.1`],
  ['Safari on a Mac, or on an iPad in desktop mode', 'desktop safari', `${macWebkit} Version/17.5 Safari/605.1.15`],
  [
    'Safari on Windows, as it once was',
    'desktop safari',
    'Mozilla/5.0 (Windows; U; Windows NT 6.1; en-US) AppleWebKit/533.19.4 (KHTML, like Gecko) Version/5.0.3 Safari/533.19.4',
  ],
  ['Chrome on an iPad', 'ios chrome', `${iPad} CriOS/125.0.6422.80 Mobile/15E148 Safari/604.1`],
  ['Chrome on an iPad in desktop mode', 'ios chrome', `${macWebkit} CriOS/125 Version/11.1.1 Safari/605.1.15`],
  [
    'early Chrome on iOS, with its build',
    'ios chrome',
    'Mozilla/5.0 (iPhone; U; CPU iPhone OS 5_1_1 like Mac OS X; en) AppleWebKit/534.46.0 (KHTML, like Gecko) CriOS/19.0.1084.60 Mobile/9B206 Safari/7534.48.3 (000205)',
  ],
  ['Chrome on an Android tablet', 'android chrome', `${android} Chrome/125.0.0.0 Safari/537.36`],
  [
    'Chrome on Android television',
    'android chrome',
    `Mozilla/5.0 (Linux; Android 9; BRAVIA 4K UR2 Build/PTT1.190515.001.S104) ${blink} Chrome/125.0.0.0 Safari/537.36`,
  ],
  [
    'Chrome on a phone whose model has brackets',
    'android chrome',
    `Mozilla/5.0 (Linux; Android 8.1.0; Moto G (5S) Plus) ${blink} Chrome/91.0.4472.120 Mobile Safari/537.36`,
  ],
  [
    'Chrome on a phone named Cubot',
    'android chrome',
    `Mozilla/5.0 (Linux; Android 9; CUBOT X19 Build/CUBOT_X19) ${blink} Chrome/91.0.4472.120 Mobile Safari/537.36`,
  ],
  [
    'Chrome on a handheld with a scanner',
    'android chrome',
    `Mozilla/5.0 (Linux; Android 8.1; TC56 Scan) ${blink} Chrome/91.0.4472.120 Mobile Safari/537.36`,
  ],
  [
    'AppleWebkit with a small k',
    'android chrome',
    'Mozilla/5.0 (Linux; Android 4.3; C5302 Build/12.1.A.1.201) AppleWebkit/537.36 (KHTML, like Gecko) Chrome/34.0.1847.114 Mobile Safari/537.36',
  ],
  ['Chrome on Windows', 'desktop chrome', `${windows} Chrome/125.0.0.0 Safari/537.36`],
  ['Chrome on Linux, or on Android in desktop mode', 'desktop chrome', `${linux} Chrome/125.0.0.0 Safari/537.36`],
  ['Brave on Android, which claims to be Chrome', 'android chrome', `${android} Chrome/125.0.0.0 Mobile Safari/537.36`],
  [
    'Samsung Internet on a tablet',
    'android samsung_browser',
    `Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-X700) ${blink} SamsungBrowser/21.0 Chrome/110.0.5481.154 Safari/537.36`,
  ],
  [
    'Samsung Internet on a large screen (DeX)',
    'android samsung_browser',
    `${linux} SamsungBrowser/30.0 Chrome/143.0.0.0 Safari/537.36`,
  ],
  [
    'Samsung Internet on Windows',
    'desktop samsung_browser',
    `${windows} SamsungBrowser/29.0 Chrome/136.0.0.0 Safari/537.36`,
  ],
  [
    'Samsung Internet on a television',
    'desktop samsung_browser',
    `Mozilla/5.0 (Linux; Tizen 4.0) ${blink} SamsungBrowser/2.1 Chrome/56.0.2924.0 TV Safari/537.36`,
  ],

  // Other browsers, built on the same engines.
  [
    'Firefox on an iPad in desktop mode',
    'ios other',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:126.0) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/126.0 Safari/605.1.15',
  ],
  ['Edge on an iPad in desktop mode', 'ios other', `${macWebkit} Version/17.0 EdgiOS/125.0.2535.60 Safari/605.1.15`],
  ['Brave on an iPad in desktop mode', 'ios other', `${macWebkit} Version/18.1 Safari/605.1.15 Brave`],
  ['DuckDuckGo on an iPad in desktop mode', 'ios other', `${macWebkit} Mobile/15E148 DuckDuckGo/7`],
  ['DuckDuckGo on an iPhone', 'ios other', `${iPhone} Version/17.5 Mobile/15E148 Safari/604.1 Ddg/17.5`],
  ['DuckDuckGo on a Mac', 'desktop other', `${macWebkit} Version/17.5 Safari/605.1.15 Ddg/17.5`],
  ['DuckDuckGo on Android', 'android other', `${android} Chrome/125.0.0.0 Mobile DuckDuckGo/5 Safari/537.36`],
  [
    'Ecosia on an iPhone, named in a comment',
    'ios other',
    `${iPhone} Version/17.4.1 Mobile/15E148 Safari/604.1 (Ecosia ios@9.2.3.1367)`,
  ],
  [
    'Ecosia on Android',
    'android other',
    `${android} Chrome/111.0.0.0 Mobile Safari/537.36 (Ecosia android@111.0.5563.116)`,
  ],
  ['Opera Touch', 'ios other', `${iPhone} Version/17.5 Mobile/15E148 Safari/604.1 OPT/4.7.0`],
  [
    'Opera Mini',
    'android other',
    'Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16',
  ],
  [
    'Opera Mini on a phone with Java',
    'desktop other',
    'Opera/9.80 (J2ME/MIDP; Opera Mini/5.1.21214/19.916; U; en) Presto/2.5.25',
  ],
  ['Edge on Android', 'android other', `${android} Chrome/124.0.0.0 Mobile Safari/537.36 EdgA/124.0.0.0`],
  ['Edge on Windows', 'desktop other', `${windows} Chrome/125.0.0.0 Safari/537.36 Edg/125.0.0.0`],
  ['old Brave', 'desktop other', `${windows} Brave Chrome/80.0.3987.132 Safari/537.36`],
  ['Vivaldi', 'desktop other', `${windows} Chrome/91.0.4472.88 Safari/537.36 Vivaldi/4.0.2312.25`],
  [
    'Firefox on a Mac',
    'desktop other',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:126.0) Gecko/20100101 Firefox/126.0',
  ],
  ['Internet Explorer 11', 'desktop other', 'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko'],
  [
    'GNOME Web, with the product names of Safari',
    'desktop other',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15',
  ],
  [
    'Silk on a Fire tablet',
    'android other',
    `Mozilla/5.0 (Linux; Android 9; KFMAWI) ${blink} Silk/120.4.1 like Chrome/120.0.6099.230 Safari/537.36`,
  ],
  ['Silk in desktop mode', 'android other', `${linux} Silk/44.1.54 like Chrome/44.0.2403.63 Safari/537.36`],
  [
    'Huawei Browser',
    'android other',
    `Mozilla/5.0 (Linux; Android 12; ELS-AN00; HMSCore 6.13.0.321) ${blink} Chrome/99.0.4844.88 HuaweiBrowser/14.0.5.303 Mobile Safari/537.36`,
  ],
  [
    'HarmonyOS without Android',
    'desktop other',
    `Mozilla/5.0 (Phone; OpenHarmony 5.0) ${blink} Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile HuaweiBrowser/5.0.4.300`,
  ],
  [
    'Xiaomi browser',
    'android other',
    'Mozilla/5.0 (Linux; U; Android 13; en-us; M2101K6G Build/TKQ1) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/112.0.5615.136 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.4.0-g',
  ],
  [
    'QQ Browser',
    'android other',
    'Mozilla/5.0 (Linux; U; Android 13; zh-cn; M2012K11AC Build/TKQ1) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/109.0.5414.86 MQQBrowser/14.8 Mobile Safari/537.36 COVC/046915',
  ],
  [
    'Sogou browser, which is not its crawler',
    'android other',
    `Mozilla/5.0 (Linux; Android 9; MI 8 Build/PKQ1; wv) ${blink} Version/4.0 Chrome/68.0.3440.106 Mobile Safari/537.36 AWP/2.0 SogouMSE,SogouMobileBrowser/5.22.9`,
  ],
  [
    'UC Browser with its own short Android',
    'android other',
    'UCWEB/2.0 (MIDP-2.0; U; Adr 4.4.2; en-US; GT-I9060I) U2/1.0.0 UCBrowser/10.7.0.636 U2/1.0.0 Mobile',
  ],
  [
    'Oculus browser, which also names Samsung',
    'android other',
    `Mozilla/5.0 (Linux; Android 7.0; SM-G920I Build/NRD90M) ${blink} OculusBrowser/3.4.9 SamsungBrowser/4.0 Chrome/57.0.2987.146 Mobile VR Safari/537.36`,
  ],

  // Devices that are neither iOS nor Android, although some claim it.
  [
    'Windows Phone 10',
    'desktop other',
    `Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) ${blink} Chrome/52.0.2743.116 Mobile Safari/537.36 Edge/15.15063`,
  ],
  [
    'KaiOS that names Android',
    'desktop other',
    'Mozilla/5.0 (Mobile; LYF/F90M/LYF-F90M-000-02-28-130318; Android; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5',
  ],
  [
    'Kindle reader, "like Android"',
    'desktop other',
    'Mozilla/5.0 (X11; U; Linux armv7l like Android; en-us) AppleWebKit/531.2+ (KHTML, like Gecko) Version/5.0 Safari/533.2+ Kindle/3.0+',
  ],
  [
    'BlackBerry 10, with the product names of Safari',
    'desktop other',
    'Mozilla/5.0 (BB10; Touch) AppleWebKit/537.35+ (KHTML, like Gecko) Version/10.3.2.2639 Mobile Safari/537.35+',
  ],
  [
    'PlayStation, with the product names of Safari',
    'desktop other',
    `Mozilla/5.0 (PlayStation; PlayStation 5/9.20) ${webkit} Version/16.4 Safari/605.1.15`,
  ],
  [
    'LG television, with the product names of Chrome',
    'desktop other',
    `Mozilla/5.0 (Web0S; Linux/SmartTV) ${blink} Chrome/79.0.3945.79 Safari/537.36`,
  ],
  [
    'Chromecast',
    'desktop other',
    `Mozilla/5.0 (X11; Linux armv7l) ${blink} Chrome/52.0.2743.84 Safari/537.36 CrKey/1.22.79313`,
  ],

  // Apps: a web view does not count as the browser it is built on.
  ['a bare web view', 'android other', webView],
  ['Google app', 'android other', `${webView} GSA/15.22.31.28.arm64`],
  ['Google app on an iPad in desktop mode', 'ios other', `${macWebkit} GSA/316.0.634488990 Safari/604.1`],
  ['Facebook', 'android other', `${webView} [FB_IAB/FB4A;FBAV/465.0.0.51.83;]`],
  [
    'Facebook by the carrier Google Fi',
    'ios other',
    `${iPhone} Mobile/15E148 [FBAN/FBIOS;FBAV/465.0;FBDV/iPhone14,5;FBCR/Google Fi;FBID/phone]`,
  ],
  [
    'Instagram',
    'ios other',
    `${iPhone} Mobile/15E148 Instagram 334.0.7.31.105 (iPhone13,2; iOS 17_5_1; en_US; en; scale=3.00; 1170x2532; 606000000)`,
  ],
  ['WeChat', 'ios other', `${iPhone} Mobile/15E148 MicroMessenger/8.0.49(0x18003137) NetType/WIFI Language/zh_CN`],
  [
    'WeChat on a Mac',
    'desktop other',
    `${macWebkit} MicroMessenger/6.8.0(0x16080000) NetType/WIFI MiniProgramEnv/Mac MacWechat/WMPF XWEB/1191 Flue`,
  ],
  [
    'Alipay, which counts pixels with bars',
    'ios other',
    `${iPhone} Mobile/15E148 AliApp(AP/10.5.96.6000) AlipayDefined(nt:WIFI,ws:390|780|3.0) AlipayClient/10.5.96.6000`,
  ],
  ['Line', 'android other', `${webView} Line/14.9.0/IAB`],
  ['KakaoTalk, joined with a semicolon', 'android other', `${webView};KAKAOTALK 2410810`],
  ['Naver', 'android other', `${webView} NAVER(inapp; search; 1100; 12.6.1)`],
  [
    'TikTok',
    'ios other',
    `${iPhone} Mobile/15E148 musical_ly_34.9.0 JsSdk/2.0 NetType/WIFI Channel/App Store BytedanceWebview/d8a21c6`,
  ],
  ['Toutiao, a news app', 'android other', `${webView} JsSdk/2 NewsArticle/9.9.9 NetType/wifi`],
  ['Snapchat', 'ios other', `${iPhone} Mobile/15E148 Snapchat/12.91.0.40 (like Safari/8617.2.4.10.8, panda)`],
  ['Pinterest', 'ios other', `${iPhone} Mobile/15E148 [Pinterest/iOS]`],
  ['Telegram', 'android other', `${webView} Telegram-Android/10.13.0 (Samsung SM-S918B; Android 14; SDK 34; HIGH)`],
  ['Slack on a Mac', 'desktop other', `${macBlink} Slack/4.39.90 Chrome/127.0.6533.72 Electron/13.1.9 Safari/537.36`],
  ['an app that scans codes', 'ios other', `${iPhone} Mobile/15E148 QRScanner/3.2.1`],
  ['an app that scans codes and is called a bot', 'android other', `${webView} QRbot/3.1`],
  ['an app named by its Android package', 'android other', `${webView} com.google.android.gms/225`],
];
