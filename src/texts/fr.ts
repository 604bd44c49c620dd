import type { Texts } from './texts.ts';

export const fr: Texts = {
  direction: 'ltr',
  share: {
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
  report: {
    weekly: 'Rapport hebdomadaire',
    monthly: 'Rapport mensuel',
    comparedWith: (period) => `Comparaison : ${period}.`,
    before: (figure) => `avant : ${figure}`,
    page: (number, count) => `Page ${number} sur ${count}`,
    cities: 'Villes',
    share: 'Part',
    change: 'Évolution',
    noChange: 'inchangé',
    isNew: 'nouveau',
    otherCodes: (count) => `Autres codes avec des scans : ${count}`,
    unnamed: '(nom non imprimable)',
    appleMobile: 'iPhone et iPad',
    computer: 'Ordinateur',
    attached: 'Le rapport complet est joint à ce message.',
    reason: (owner) => `Vous recevez ce rapport parce que ${owner} a ajouté votre adresse.`,
  },
  unsubscribe: {
    unsubscribe: 'Se désabonner',
    subscribeAgain: 'Se réabonner',
    isUnsubscribed: 'Vous êtes désabonné',
    isMailed: (name, address) => `« ${name} » est envoyé à ${address}.`,
    isNotMailed: (name, address) => `« ${name} » n’est plus envoyé à ${address}.`,
    missing: ['Ce lien ne mène nulle part', 'Il ne vous envoie plus de messages, ou il est incomplet.'],
  },
  alert: {
    silent: {
      title: (name) => `« ${name} » n’est plus scanné`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `« ${name} » n’est plus scanné. Temps sans scan : ${duration}. Aux mêmes heures de ${weeks} semaines précédentes, il y avait ${average} scans en moyenne, et jamais moins de ${extreme}. Vérifiez que le code imprimé est toujours là et visible, et que son lien fonctionne.`,
      over: (name) => `« ${name} » est de nouveau scanné.`,
    },
    spike: {
      title: (name) => `« ${name} » est scanné bien plus que d’habitude`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `« ${name} » a eu ${scans} scans. Durée : ${duration}. Aux mêmes heures de ${weeks} semaines précédentes, il y en avait ${average} en moyenne, et jamais plus de ${extreme}. Les statistiques montrent d’où viennent les scans.`,
      over: (name) => `« ${name} » est de nouveau scanné à peu près comme d’habitude.`,
    },
    scans: {
      near: (name) => `« ${name} » a presque épuisé ses scans`,
      usedUp: (name) => `« ${name} » a épuisé ses scans`,
      message: (name, used, max) =>
        `« ${name} » a eu ${used} scans sur ${max}. Quand il n’en reste plus, les visiteurs n’atteignent plus sa destination. Vous pouvez relever la limite du code.`,
    },
    down: {
      title: (name) => `Le site de « ${name} » est en panne`,
      message: ({ name, url, problem, others }) =>
        `« ${name} » mène à ${url}, qui a échoué deux fois en une heure environ. ${problem}${others === 0 ? '' : ` Autres adresses du code également en panne : ${others}.`} Les personnes qui scannent le code voient une erreur. Réparez le site, ou changez la destination du code.`,
      over: 'Le site répond de nouveau, ou le code n’y mène plus.',
    },
    problems: {
      circles: (host) => `${host} redirige en boucle.`,
      missing: (host, status) => `${host} répond que la page n’existe pas (${status}).`,
      failing: (host, status) => `${host} répond par une erreur (${status}).`,
      unknownHost: (host) => `L’adresse de ${host} est introuvable.`,
      noAnswer: (host) => `${host} ne répond pas.`,
      unreachable: (host, detail) => `${host} est injoignable (${detail}).`,
    },
    limits: {
      codes: {
        title: 'Le forfait n’a presque plus de codes',
        message: (used, limit) =>
          `${used} des ${limit} codes QR de votre forfait existent. Ensuite, aucun autre ne peut être créé ; les codes existants continuent de fonctionner. Supprimez-en, ou changez de forfait.`,
      },
      domains: {
        title: 'Le forfait n’a presque plus de domaines',
        message: (used, limit) =>
          `${used} des ${limit} domaines de votre forfait sont utilisés. Ensuite, aucun autre ne peut être ajouté ; les domaines existants continuent de fonctionner.`,
      },
      short_codes: {
        title: 'Le forfait n’a presque plus de codes courts choisis',
        message: (used, limit) =>
          `Ces 30 derniers jours, ${used} codes courts sur ${limit} ont été choisis. Ensuite, les nouveaux codes en reçoivent un généré ; les codes existants continuent de fonctionner.`,
      },
      disk: {
        title: 'Le disque de ce service est presque plein',
        message: (used, limit) =>
          `${used} Mo sur ${limit} sont utilisés sur le disque qui garde les scans jusqu’à leur enregistrement. Quand il est plein, les liens courts ne fonctionnent plus. Libérez de la place, ou utilisez un disque plus grand.`,
      },
    },
    limitOver: 'Il en reste de nouveau assez.',
    domain: {
      title: (name) => `Le domaine ${name} n’est plus correctement configuré`,
      message: (name, found) =>
        `Les liens sur ${name} fonctionnent encore, mais le domaine ne passe plus nos contrôles. ${found} Si ses enregistrements ont été modifiés par erreur, rétablissez-les comme sa page l’indique.`,
      over: 'Le domaine passe de nouveau tous les contrôles, ou a été retiré.',
    },
    paused: 'L’alerte a été suspendue.',
    unwatched: 'Le code n’est plus surveillé : il a été suspendu, modifié ou supprimé, ou il a pris fin.',
    over: (title) => `Terminé : ${title}`,
    more: (count) => `Et ${count} autres.`,
    showMore: 'En savoir plus',
    showAll: 'Tout afficher',
    changes: (name, count) => `${name} : ${count} changements`,
    reason: (name) => `Vous recevez ce message parce que votre adresse a été ajoutée à l’alerte « ${name} ».`,
  },
};
