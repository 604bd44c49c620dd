import type { Texts } from './texts.ts';

export const it: Texts = {
  direction: 'ltr',
  share: {
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
  report: {
    weekly: 'Rapporto settimanale',
    monthly: 'Rapporto mensile',
    comparedWith: (period) => `Confronto: ${period}.`,
    before: (figure) => `prima: ${figure}`,
    page: (number, count) => `Pagina ${number} di ${count}`,
    cities: 'Città',
    share: 'Quota',
    change: 'Variazione',
    noChange: 'invariato',
    isNew: 'nuovo',
    otherCodes: (count) => `Altri codici con scansioni: ${count}`,
    unnamed: '(nome non stampabile)',
    appleMobile: 'iPhone e iPad',
    computer: 'Computer',
    attached: 'Il rapporto completo è allegato.',
    reason: (owner) => `Riceve questo rapporto perché ${owner} ha aggiunto il Suo indirizzo.`,
  },
  unsubscribe: {
    unsubscribe: 'Annulla l’iscrizione',
    subscribeAgain: 'Iscriviti di nuovo',
    isUnsubscribed: 'Iscrizione annullata',
    isMailed: (name, address) => `“${name}” viene inviato a ${address}.`,
    isNotMailed: (name, address) => `“${name}” non viene più inviato a ${address}.`,
    missing: ['Questo link non porta da nessuna parte', 'Non invia più messaggi, o il link è incompleto.'],
  },
  alert: {
    silent: {
      title: (name) => `“${name}” non viene più scansionato`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `“${name}” non viene più scansionato. Tempo senza scansioni: ${duration}. Nelle stesse ore di ${weeks} settimane precedenti ne aveva in media ${average}, e mai meno di ${extreme}. Controlli che il codice stampato sia ancora al suo posto e visibile, e che il suo link funzioni.`,
      over: (name) => `“${name}” viene di nuovo scansionato.`,
    },
    spike: {
      title: (name) => `“${name}” viene scansionato molto più del solito`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `“${name}” ha avuto ${scans} scansioni. Tempo: ${duration}. Nelle stesse ore di ${weeks} settimane precedenti ne aveva in media ${average}, e mai più di ${extreme}. Le statistiche mostrano da dove vengono le scansioni.`,
      over: (name) => `“${name}” viene di nuovo scansionato più o meno come al solito.`,
    },
    scans: {
      near: (name) => `“${name}” ha quasi esaurito le sue scansioni`,
      usedUp: (name) => `“${name}” ha esaurito le sue scansioni`,
      message: (name, used, max) =>
        `“${name}” ha avuto ${used} delle sue ${max} scansioni. Quando non ne restano più, gli ospiti non raggiungono più la destinazione. Può aumentare il limite del codice.`,
    },
    down: {
      title: (name) => `Il sito di “${name}” non funziona`,
      message: ({ name, url, problem, others }) =>
        `“${name}” porta a ${url}, che ha fallito due volte in circa un’ora. ${problem}${others === 0 ? '' : ` Altri indirizzi del codice che non funzionano: ${others}.`} Chi scansiona il codice vede un errore. Ripari il sito, o cambi la destinazione del codice.`,
      over: 'Il sito risponde di nuovo, o il codice non porta più lì.',
    },
    problems: {
      circles: (host) => `${host} reindirizza in circolo.`,
      missing: (host, status) => `${host} risponde che la pagina non esiste (${status}).`,
      failing: (host, status) => `${host} risponde con un proprio errore (${status}).`,
      unknownHost: (host) => `L’indirizzo di ${host} non si trova.`,
      noAnswer: (host) => `${host} non risponde.`,
      unreachable: (host, detail) => `${host} non è raggiungibile (${detail}).`,
    },
    limits: {
      codes: {
        title: 'Il piano non ha quasi più codici',
        message: (used, limit) =>
          `Esistono ${used} dei ${limit} codici QR del Suo piano. Dopo non se ne possono creare altri; quelli esistenti continuano a funzionare. Ne elimini alcuni, o cambi piano.`,
      },
      domains: {
        title: 'Il piano non ha quasi più domini',
        message: (used, limit) =>
          `Sono in uso ${used} dei ${limit} domini del Suo piano. Dopo non se ne possono aggiungere altri; quelli esistenti continuano a funzionare.`,
      },
      short_codes: {
        title: 'Il piano non ha quasi più codici brevi scelti',
        message: (used, limit) =>
          `Negli ultimi 30 giorni sono stati scelti ${used} di ${limit} codici brevi. Dopo, i nuovi codici ne ricevono uno generato; quelli esistenti continuano a funzionare.`,
      },
      disk: {
        title: 'Il disco di questo servizio è quasi pieno',
        message: (used, limit) =>
          `Sono usati ${used} di ${limit} MB del disco che conserva le scansioni finché non sono salvate. Quando è pieno, i link brevi non funzionano più. Liberi spazio, o usi un disco più grande.`,
      },
    },
    limitOver: 'Ne resta di nuovo abbastanza.',
    domain: {
      title: (name) => `Il dominio ${name} non è più configurato correttamente`,
      message: (name, found) =>
        `I link su ${name} funzionano ancora, ma il dominio non supera più i nostri controlli. ${found} Se i suoi record sono stati cambiati per errore, li imposti come mostra la sua pagina.`,
      over: 'Il dominio supera di nuovo tutti i controlli, o è stato rimosso.',
    },
    paused: 'L’avviso è stato sospeso.',
    unwatched: 'Il codice non è più osservato: è stato sospeso, modificato o eliminato, o è terminato.',
    over: (title) => `Finito: ${title}`,
    more: (count) => `E altri ${count}.`,
    showMore: 'Mostra di più',
    showAll: 'Mostra tutto',
    changes: (name, count) => `${name}: ${count} cambiamenti`,
    reason: (name) => `Riceve questo messaggio perché il Suo indirizzo è stato aggiunto all’avviso “${name}”.`,
  },
};
