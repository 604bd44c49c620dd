/** The words of shared pages in one language. */
export interface ShareTexts {
  scans: string;
  visitors: string;
  periods: Record<'7d' | '30d' | '90d' | '12m', string>;
  /** Titles of the chart, by its interval, and of the tables. */
  perDay: string;
  perMonth: string;
  codes: string;
  countries: string;
  devices: string;
  browsers: string;
  other: string;
  unknown: string;
  /** In place of a figure. */
  few: string;
  nothing: string;
  asTable: string;
  date: string;
  notes: { hidden: string; withoutBots: string; timezone: string };
  missing: readonly [title: string, text: string];
  password: string;
  open: string;
  isProtected: string;
  wrongPassword: string;
  tooManyTries: string;
  direction?: 'rtl';
}

export const en: ShareTexts = {
  scans: 'Scans',
  visitors: 'Visitors',
  periods: { '7d': '7 days', '30d': '30 days', '90d': '90 days', '12m': '12 months' },
  perDay: 'Scans per day',
  perMonth: 'Scans per month',
  codes: 'Codes',
  countries: 'Countries',
  devices: 'Devices',
  browsers: 'Browsers',
  other: 'Others',
  unknown: 'Unknown',
  few: 'fewer than 5',
  nothing: 'No scans in this period.',
  asTable: 'As a table',
  date: 'Date',
  notes: {
    hidden: 'Figures of fewer than 5 visitors are not shown.',
    withoutBots: 'Bots are not counted.',
    timezone: 'Time zone: %',
  },
  missing: ['This page does not exist', 'It has ended, or the link is incomplete. Ask the person who gave it to you.'],
  password: 'Password',
  open: 'Open',
  isProtected: 'This page is protected by a password.',
  wrongPassword: 'The password is wrong.',
  tooManyTries: 'Too many tries. Please wait a minute.',
};

/** By the primary subtag of a language; English is the fallback. */
export const shareTexts: Record<string, ShareTexts> = {
  en,
  de: {
    scans: 'Scans',
    visitors: 'Besucher',
    periods: { '7d': '7 Tage', '30d': '30 Tage', '90d': '90 Tage', '12m': '12 Monate' },
    perDay: 'Scans pro Tag',
    perMonth: 'Scans pro Monat',
    codes: 'Codes',
    countries: 'Länder',
    devices: 'Geräte',
    browsers: 'Browser',
    other: 'Andere',
    unknown: 'Unbekannt',
    few: 'weniger als 5',
    nothing: 'Keine Scans in diesem Zeitraum.',
    asTable: 'Als Tabelle',
    date: 'Datum',
    notes: {
      hidden: 'Zahlen von weniger als 5 Besuchern werden nicht gezeigt.',
      withoutBots: 'Bots werden nicht gezählt.',
      timezone: 'Zeitzone: %',
    },
    missing: [
      'Diese Seite gibt es nicht',
      'Sie wurde beendet, oder der Link ist unvollständig. Fragen Sie die Person, von der Sie ihn haben.',
    ],
    password: 'Passwort',
    open: 'Öffnen',
    isProtected: 'Diese Seite ist durch ein Passwort geschützt.',
    wrongPassword: 'Das Passwort ist falsch.',
    tooManyTries: 'Zu viele Versuche. Bitte warten Sie eine Minute.',
  },
  fr: {
    scans: 'Scans',
    visitors: 'Visiteurs',
    periods: { '7d': '7 jours', '30d': '30 jours', '90d': '90 jours', '12m': '12 mois' },
    perDay: 'Scans par jour',
    perMonth: 'Scans par mois',
    codes: 'Codes',
    countries: 'Pays',
    devices: 'Appareils',
    browsers: 'Navigateurs',
    other: 'Autres',
    unknown: 'Inconnu',
    few: 'moins de 5',
    nothing: 'Aucun scan sur cette période.',
    asTable: 'Sous forme de tableau',
    date: 'Date',
    notes: {
      hidden: 'Les chiffres de moins de 5 visiteurs ne sont pas affichés.',
      withoutBots: 'Les robots ne sont pas comptés.',
      timezone: 'Fuseau horaire : %',
    },
    missing: [
      'Cette page n’existe pas',
      'Elle a été fermée, ou le lien est incomplet. Demandez à la personne qui vous l’a donné.',
    ],
    password: 'Mot de passe',
    open: 'Ouvrir',
    isProtected: 'Cette page est protégée par un mot de passe.',
    wrongPassword: 'Le mot de passe est incorrect.',
    tooManyTries: 'Trop de tentatives. Veuillez patienter une minute.',
  },
  es: {
    scans: 'Escaneos',
    visitors: 'Visitantes',
    periods: { '7d': '7 días', '30d': '30 días', '90d': '90 días', '12m': '12 meses' },
    perDay: 'Escaneos por día',
    perMonth: 'Escaneos por mes',
    codes: 'Códigos',
    countries: 'Países',
    devices: 'Dispositivos',
    browsers: 'Navegadores',
    other: 'Otros',
    unknown: 'Desconocido',
    few: 'menos de 5',
    nothing: 'No hay escaneos en este periodo.',
    asTable: 'Como tabla',
    date: 'Fecha',
    notes: {
      hidden: 'Las cifras de menos de 5 visitantes no se muestran.',
      withoutBots: 'Los bots no se cuentan.',
      timezone: 'Zona horaria: %',
    },
    missing: [
      'Esta página no existe',
      'Ha terminado, o el enlace está incompleto. Pregunte a la persona que se lo dio.',
    ],
    password: 'Contraseña',
    open: 'Abrir',
    isProtected: 'Esta página está protegida con una contraseña.',
    wrongPassword: 'La contraseña es incorrecta.',
    tooManyTries: 'Demasiados intentos. Espere un minuto.',
  },
  it: {
    scans: 'Scansioni',
    visitors: 'Visitatori',
    periods: { '7d': '7 giorni', '30d': '30 giorni', '90d': '90 giorni', '12m': '12 mesi' },
    perDay: 'Scansioni al giorno',
    perMonth: 'Scansioni al mese',
    codes: 'Codici',
    countries: 'Paesi',
    devices: 'Dispositivi',
    browsers: 'Browser',
    other: 'Altri',
    unknown: 'Sconosciuto',
    few: 'meno di 5',
    nothing: 'Nessuna scansione in questo periodo.',
    asTable: 'Come tabella',
    date: 'Data',
    notes: {
      hidden: 'I valori di meno di 5 visitatori non sono mostrati.',
      withoutBots: 'I bot non sono contati.',
      timezone: 'Fuso orario: %',
    },
    missing: [
      'Questa pagina non esiste',
      'È stata chiusa, o il link è incompleto. Chieda alla persona da cui l’ha ricevuto.',
    ],
    password: 'Password',
    open: 'Apri',
    isProtected: 'Questa pagina è protetta da una password.',
    wrongPassword: 'La password è errata.',
    tooManyTries: 'Troppi tentativi. Attenda un minuto.',
  },
};
