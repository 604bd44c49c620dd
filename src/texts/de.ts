import type { Texts } from './texts.ts';

export const de: Texts = {
  direction: 'ltr',
  share: {
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
  report: {
    weekly: 'Wochenbericht',
    monthly: 'Monatsbericht',
    comparedWith: (period) => `Vergleich: ${period}.`,
    before: (figure) => `vorher: ${figure}`,
    page: (number, count) => `Seite ${number} von ${count}`,
    cities: 'Städte',
    share: 'Anteil',
    change: 'Änderung',
    noChange: 'unverändert',
    isNew: 'neu',
    otherCodes: (count) => `Weitere Codes mit Scans: ${count}`,
    unnamed: '(Name nicht druckbar)',
    appleMobile: 'iPhone und iPad',
    computer: 'Computer',
    attached: 'Der ganze Bericht ist angehängt.',
    reason: (owner) => `Sie erhalten diesen Bericht, weil ${owner} Ihre Adresse eingetragen hat.`,
  },
  unsubscribe: {
    unsubscribe: 'Abbestellen',
    subscribeAgain: 'Wieder abonnieren',
    isUnsubscribed: 'Abbestellt',
    isMailed: (name, address) => `„${name}“ wird an ${address} gesendet.`,
    isNotMailed: (name, address) => `„${name}“ wird nicht mehr an ${address} gesendet.`,
    missing: [
      'Dieser Link führt nirgendwohin',
      'Sie erhalten darüber keine E-Mails mehr, oder der Link ist unvollständig.',
    ],
  },
  alert: {
    silent: {
      title: (name) => `„${name}“ wird nicht mehr gescannt`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `„${name}“ wurde nicht mehr gescannt. Zeit ohne Scan: ${duration}. In denselben Stunden von ${weeks} früheren Wochen waren es im Durchschnitt ${average} Scans und nie weniger als ${extreme}. Prüfen Sie, ob der gedruckte Code noch da und sichtbar ist und ob sein Link funktioniert.`,
      over: (name) => `„${name}“ wird wieder gescannt.`,
    },
    spike: {
      title: (name) => `„${name}“ wird viel öfter gescannt als sonst`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `„${name}“ hatte ${scans} Scans. Zeitraum: die letzten ${duration}. In denselben Stunden von ${weeks} früheren Wochen waren es im Durchschnitt ${average} und nie mehr als ${extreme}. Die Statistik zeigt, woher die Scans kommen.`,
      over: (name) => `„${name}“ wird wieder etwa so oft gescannt wie sonst.`,
    },
    scans: {
      near: (name) => `„${name}“ hat seine Scans fast aufgebraucht`,
      usedUp: (name) => `„${name}“ hat seine Scans aufgebraucht`,
      message: (name, used, max) =>
        `„${name}“ hatte ${used} von ${max} Scans. Wenn keine mehr übrig sind, erreichen Gäste das Ziel nicht mehr. Sie können die Grenze des Codes erhöhen.`,
    },
    down: {
      title: (name) => `Die Website von „${name}“ ist nicht erreichbar`,
      message: ({ name, url, problem, others }) =>
        `„${name}“ führt zu ${url}, und das ist innerhalb von etwa einer Stunde zweimal fehlgeschlagen. ${problem}${others === 0 ? '' : ` Weitere Adressen des Codes, die nicht erreichbar sind: ${others}.`} Gäste, die den Code scannen, sehen einen Fehler. Reparieren Sie die Website, oder ändern Sie das Ziel des Codes.`,
      over: 'Die Website antwortet wieder, oder der Code führt nicht mehr dorthin.',
    },
    problems: {
      circles: (host) => `${host} leitet im Kreis weiter.`,
      missing: (host, status) => `${host} antwortet, dass es die Seite nicht gibt (${status}).`,
      failing: (host, status) => `${host} antwortet mit einem eigenen Fehler (${status}).`,
      unknownHost: (host) => `Die Adresse von ${host} wurde nicht gefunden.`,
      noAnswer: (host) => `${host} antwortet nicht.`,
      unreachable: (host, detail) => `${host} ist nicht erreichbar (${detail}).`,
    },
    limits: {
      codes: {
        title: 'Der Tarif hat kaum noch Codes übrig',
        message: (used, limit) =>
          `${used} von ${limit} QR-Codes Ihres Tarifs sind vergeben. Danach können keine weiteren angelegt werden; vorhandene funktionieren weiter. Löschen Sie einige, oder wechseln Sie den Tarif.`,
      },
      domains: {
        title: 'Der Tarif hat kaum noch Domains übrig',
        message: (used, limit) =>
          `${used} von ${limit} Domains Ihres Tarifs sind vergeben. Danach können keine weiteren hinzugefügt werden; vorhandene funktionieren weiter.`,
      },
      short_codes: {
        title: 'Der Tarif hat kaum noch gewählte Kurzcodes übrig',
        message: (used, limit) =>
          `In den letzten 30 Tagen wurden ${used} von ${limit} Kurzcodes selbst gewählt. Danach erhalten neue Codes erzeugte; vorhandene funktionieren weiter.`,
      },
      disk: {
        title: 'Die Festplatte dieses Dienstes ist fast voll',
        message: (used, limit) =>
          `${used} von ${limit} MB der Festplatte sind belegt, die Scans aufbewahrt, bis sie gespeichert sind. Wenn sie voll ist, funktionieren Kurzlinks nicht mehr. Schaffen Sie Platz, oder verwenden Sie eine größere.`,
      },
    },
    limitOver: 'Es ist wieder genug übrig.',
    domain: {
      title: (name) => `Die Domain ${name} ist nicht mehr richtig eingerichtet`,
      message: (name, found) =>
        `Links auf ${name} funktionieren noch, aber die Domain besteht unsere Prüfungen nicht mehr. ${found} Falls ihre Einträge versehentlich geändert wurden, setzen Sie sie, wie ihre Seite es zeigt.`,
      over: 'Die Domain besteht wieder alle Prüfungen, oder sie wurde entfernt.',
    },
    paused: 'Die Benachrichtigung wurde angehalten.',
    unwatched:
      'Der Code wird nicht mehr beobachtet: Er wurde angehalten, geändert oder gelöscht, oder er ist abgelaufen.',
    over: (title) => `Vorbei: ${title}`,
    more: (count) => `Und ${count} weitere.`,
    showMore: 'Mehr anzeigen',
    showAll: 'Alle anzeigen',
    changes: (name, count) => `${name}: ${count} Änderungen`,
    reason: (name) =>
      `Sie erhalten diese E-Mail, weil Ihre Adresse bei der Benachrichtigung „${name}“ eingetragen ist.`,
  },
};
