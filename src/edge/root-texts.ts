/** What a custom domain says at its root, by the primary subtag of a language; English is the fallback. */
export const rootTexts: Record<string, readonly [title: string, text: string]> = {
  en: [
    'Short links live here',
    'This domain leads to pages that its owner has chosen. Scan a code, or open a whole link.',
  ],
  de: [
    'Hier wohnen Kurzlinks',
    'Diese Domain führt zu Seiten, die ihr Inhaber gewählt hat. Scannen Sie einen Code, oder öffnen Sie einen ganzen Link.',
  ],
  fr: [
    'Un domaine de liens courts',
    'Ce domaine mène à des pages choisies par son propriétaire. Scannez un code ou ouvrez un lien complet.',
  ],
  es: [
    'Un dominio de enlaces cortos',
    'Este dominio lleva a páginas que ha elegido su propietario. Escanee un código o abra un enlace completo.',
  ],
  it: [
    'Un dominio di link brevi',
    'Questo dominio porta a pagine scelte dal suo proprietario. Scansiona un codice o apri un link completo.',
  ],
  pt: [
    'Um domínio de links curtos',
    'Este domínio leva a páginas escolhidas pelo seu proprietário. Leia um código ou abra um link completo.',
  ],
  nl: [
    'Hier wonen korte links',
    "Dit domein leidt naar pagina's die de eigenaar heeft gekozen. Scan een code of open een volledige link.",
  ],
  pl: [
    'Domena krótkich linków',
    'Ta domena prowadzi do stron wybranych przez jej właściciela. Zeskanuj kod lub otwórz pełny link.',
  ],
  tr: [
    'Kısa bağlantıların alan adı',
    'Bu alan adı, sahibinin seçtiği sayfalara götürür. Bir kod tarayın veya tam bir bağlantı açın.',
  ],
  ar: ['نطاق للروابط القصيرة', 'يقود هذا النطاق إلى صفحات اختارها مالكه. امسح رمزًا أو افتح رابطًا كاملًا.'],
  zh: ['短链接域名', '此域名通向其所有者选择的页面。请扫描二维码，或打开完整的链接。'],
  ja: [
    '短縮リンクのドメイン',
    'このドメインは、所有者が選んだページにつながります。コードを読み取るか、完全なリンクを開いてください。',
  ],
};
