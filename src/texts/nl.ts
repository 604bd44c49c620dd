import type { Texts } from './texts.ts';

export const nl: Texts = {
  direction: 'ltr',
  share: {
    scans: 'Scans',
    visitors: 'Bezoekers',
    periods: { '7d': '7 dagen', '30d': '30 dagen', '90d': '90 dagen', '12m': '12 maanden' },
    perDay: 'Scans per dag',
    perMonth: 'Scans per maand',
    codes: 'Codes',
    countries: 'Landen',
    devices: 'Apparaten',
    browsers: 'Browsers',
    other: 'Overige',
    unknown: 'Onbekend',
    few: 'minder dan 5',
    nothing: 'Geen scans in deze periode.',
    asTable: 'Als tabel',
    date: 'Datum',
    notes: {
      hidden: 'Cijfers van minder dan 5 bezoekers worden niet getoond.',
      withoutBots: 'Bots worden niet meegeteld.',
      timezone: 'Tijdzone: %',
    },
    missing: [
      'Deze pagina bestaat niet',
      'Ze is beëindigd, of de link is onvolledig. Vraag het degene van wie u hem hebt.',
    ],
    password: 'Wachtwoord',
    open: 'Openen',
    isProtected: 'Deze pagina is beveiligd met een wachtwoord.',
    wrongPassword: 'Het wachtwoord is onjuist.',
    tooManyTries: 'Te veel pogingen. Wacht een minuut.',
  },
  report: {
    weekly: 'Weekrapport',
    monthly: 'Maandrapport',
    comparedWith: (period) => `Vergelijking: ${period}.`,
    before: (figure) => `eerder: ${figure}`,
    page: (number, count) => `Pagina ${number} van ${count}`,
    cities: 'Steden',
    share: 'Aandeel',
    change: 'Verschil',
    noChange: 'ongewijzigd',
    isNew: 'nieuw',
    otherCodes: (count) => `Andere codes met scans: ${count}`,
    unnamed: '(naam niet afdrukbaar)',
    appleMobile: 'iPhone en iPad',
    computer: 'Computer',
    attached: 'Het hele rapport is bijgevoegd.',
    reason: (owner) => `U krijgt dit rapport omdat ${owner} uw adres heeft toegevoegd.`,
  },
  unsubscribe: {
    unsubscribe: 'Afmelden',
    subscribeAgain: 'Opnieuw aanmelden',
    isUnsubscribed: 'U bent afgemeld',
    isMailed: (name, address) => `“${name}” wordt naar ${address} gestuurd.`,
    isNotMailed: (name, address) => `“${name}” wordt niet meer naar ${address} gestuurd.`,
    missing: ['Deze link leidt nergens heen', 'U krijgt er geen e-mails meer door, of de link is onvolledig.'],
  },
  alert: {
    silent: {
      title: (name) => `“${name}” wordt niet meer gescand`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `“${name}” wordt niet meer gescand. Tijd zonder scan: ${duration}. In dezelfde uren van ${weeks} eerdere weken waren het er gemiddeld ${average}, en nooit minder dan ${extreme}. Controleer of de gedrukte code er nog is en te zien is, en of de link werkt.`,
      over: (name) => `“${name}” wordt weer gescand.`,
    },
    spike: {
      title: (name) => `“${name}” wordt veel vaker gescand dan anders`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `“${name}” had ${scans} scans. Tijd: ${duration}. In dezelfde uren van ${weeks} eerdere weken waren het er gemiddeld ${average}, en nooit meer dan ${extreme}. De statistieken laten zien waar de scans vandaan komen.`,
      over: (name) => `“${name}” wordt weer ongeveer zo vaak gescand als anders.`,
    },
    scans: {
      near: (name) => `“${name}” heeft zijn scans bijna opgebruikt`,
      usedUp: (name) => `“${name}” heeft zijn scans opgebruikt`,
      message: (name, used, max) =>
        `“${name}” had ${used} van de ${max} scans. Als er geen meer over zijn, bereiken bezoekers de bestemming niet meer. U kunt de limiet van de code verhogen.`,
    },
    down: {
      title: (name) => `De website van “${name}” werkt niet`,
      message: ({ name, url, problem, others }) =>
        `“${name}” leidt naar ${url}, en dat is binnen ongeveer een uur twee keer mislukt. ${problem}${others === 0 ? '' : ` Andere adressen van de code die niet werken: ${others}.`} Wie de code scant, ziet een fout. Herstel de website, of verander waar de code heen leidt.`,
      over: 'De website antwoordt weer, of de code leidt er niet meer heen.',
    },
    problems: {
      circles: (host) => `${host} verwijst in een kring door.`,
      missing: (host, status) => `${host} antwoordt dat de pagina niet bestaat (${status}).`,
      failing: (host, status) => `${host} antwoordt met een eigen fout (${status}).`,
      unknownHost: (host) => `Het adres van ${host} is niet te vinden.`,
      noAnswer: (host) => `${host} antwoordt niet.`,
      unreachable: (host, detail) => `${host} is niet bereikbaar (${detail}).`,
    },
    limits: {
      codes: {
        title: 'Het abonnement heeft bijna geen codes meer',
        message: (used, limit) =>
          `Er bestaan ${used} van de ${limit} QR-codes van uw abonnement. Daarna kunnen er geen meer worden gemaakt; bestaande blijven werken. Verwijder er enkele, of neem een ander abonnement.`,
      },
      domains: {
        title: 'Het abonnement heeft bijna geen domeinen meer',
        message: (used, limit) =>
          `Er zijn ${used} van de ${limit} domeinen van uw abonnement in gebruik. Daarna kunnen er geen meer worden toegevoegd; bestaande blijven werken.`,
      },
      short_codes: {
        title: 'Het abonnement heeft bijna geen gekozen korte codes meer',
        message: (used, limit) =>
          `In de laatste 30 dagen zijn ${used} van ${limit} korte codes gekozen. Daarna krijgen nieuwe codes een gegenereerde; bestaande blijven werken.`,
      },
      disk: {
        title: 'De schijf van deze dienst is bijna vol',
        message: (used, limit) =>
          `Er is ${used} van ${limit} MB in gebruik op de schijf die scans bewaart tot ze zijn opgeslagen. Als die vol is, werken korte links niet meer. Maak ruimte, of gebruik een grotere schijf.`,
      },
    },
    limitOver: 'Er is weer genoeg over.',
    domain: {
      title: (name) => `Het domein ${name} is niet meer goed ingesteld`,
      message: (name, found) =>
        `Links op ${name} werken nog, maar het domein doorstaat onze controles niet meer. ${found} Als de records per ongeluk zijn veranderd, stel ze dan in zoals de pagina van het domein laat zien.`,
      over: 'Het domein doorstaat weer alle controles, of is verwijderd.',
    },
    paused: 'De melding is gepauzeerd.',
    unwatched: 'De code wordt niet meer gevolgd: hij is gepauzeerd, veranderd of verwijderd, of is afgelopen.',
    over: (title) => `Voorbij: ${title}`,
    more: (count) => `En nog ${count}.`,
    showMore: 'Meer tonen',
    showAll: 'Alles tonen',
    changes: (name, count) => `${name}: ${count} veranderingen`,
    reason: (name) => `U krijgt deze e-mail omdat uw adres aan de melding “${name}” is toegevoegd.`,
  },
};
