import type { Texts } from './texts.ts';

export const en: Texts = {
  direction: 'ltr',
  share: {
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
    missing: [
      'This page does not exist',
      'It has ended, or the link is incomplete. Ask the person who gave it to you.',
    ],
    password: 'Password',
    open: 'Open',
    isProtected: 'This page is protected by a password.',
    wrongPassword: 'The password is wrong.',
    tooManyTries: 'Too many tries. Please wait a minute.',
  },
  report: {
    weekly: 'Weekly report',
    monthly: 'Monthly report',
    comparedWith: (period) => `Compared with: ${period}.`,
    before: (figure) => `before: ${figure}`,
    page: (number, count) => `Page ${number} of ${count}`,
    cities: 'Cities',
    share: 'Share',
    change: 'Change',
    noChange: 'no change',
    isNew: 'new',
    otherCodes: (count) => `Other codes with scans: ${count}`,
    unnamed: '(no name that can be printed)',
    appleMobile: 'iPhone and iPad',
    computer: 'Computer',
    attached: 'The attached file has the whole report.',
    reason: (owner) => `You get this report because ${owner} added your address to it.`,
  },
  unsubscribe: {
    unsubscribe: 'Unsubscribe',
    subscribeAgain: 'Subscribe again',
    isUnsubscribed: 'You are unsubscribed',
    isMailed: (name, address) => `“${name}” is mailed to ${address}.`,
    isNotMailed: (name, address) => `“${name}” is no longer mailed to ${address}.`,
    missing: ['This link leads nowhere', 'You get no mails by it any more, or the link is incomplete.'],
  },
  alert: {
    silent: {
      title: (name) => `“${name}” is not scanned any more`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `“${name}” has had no scan for ${duration}. In the same hours of ${weeks} earlier weeks it had ${average} on average, and never fewer than ${extreme}. Check that the printed code is still there and can be seen, and that its link works.`,
      over: (name) => `“${name}” is scanned again.`,
    },
    spike: {
      title: (name) => `“${name}” is scanned far more than usual`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `“${name}” has had ${scans} scans in the last ${duration}. In the same hours of ${weeks} earlier weeks it had ${average} on average, and never more than ${extreme}. Its analytics show where the scans come from.`,
      over: (name) => `“${name}” is scanned about as often as usual again.`,
    },
    scans: {
      near: (name) => `“${name}” has nearly used up its scans`,
      usedUp: (name) => `“${name}” has used up its scans`,
      message: (name, used, max) =>
        `“${name}” has had ${used} of its ${max} scans. When none are left, guests no longer reach its destination. You can raise the limit of the code.`,
    },
    down: {
      title: (name) => `The website of “${name}” is down`,
      message: ({ name, url, problem, others }) =>
        `“${name}” leads to ${url}, which has failed twice within about an hour. ${problem}${others === 0 ? '' : ` Other addresses of the code that are down as well: ${others}.`} Guests who scan the code see an error. Repair the website, or change where the code leads.`,
      over: 'The website answers again, or the code no longer leads there.',
    },
    problems: {
      circles: (host) => `${host} redirects in circles.`,
      missing: (host, status) => `${host} answers that the page does not exist (${status}).`,
      failing: (host, status) => `${host} answers with an error of its own (${status}).`,
      unknownHost: (host) => `The address of ${host} cannot be found.`,
      noAnswer: (host) => `${host} does not answer.`,
      unreachable: (host, detail) => `${host} cannot be reached. ${detail}`,
    },
    limits: {
      codes: {
        title: 'The plan has hardly any codes left',
        message: (used, limit) =>
          `${used} of the ${limit} QR codes of your plan exist. When all are used, no more can be created; existing ones keep working. Delete some, or ask for another plan.`,
      },
      domains: {
        title: 'The plan has hardly any domains left',
        message: (used, limit) =>
          `${used} of the ${limit} domains of your plan are in use. When all are used, no more can be added; existing ones keep working.`,
      },
      short_codes: {
        title: 'The plan has hardly any chosen short codes left',
        message: (used, limit) =>
          `In the last 30 days, ${used} of ${limit} short codes were chosen. When all are used, new codes get generated ones; existing ones keep working.`,
      },
      disk: {
        title: 'The disk of this service is nearly full',
        message: (used, limit) =>
          `${used} of ${limit} MB are used on the disk that keeps scans until they are stored. When it is full, short links stop working. Make room on it, or use a larger disk.`,
      },
    },
    limitOver: 'There is enough left again.',
    domain: {
      title: (name) => `The domain ${name} is not set up correctly any more`,
      message: (name, found) =>
        `Links on ${name} still work for now, but the domain no longer passes our checks. ${found} If its records were changed by mistake, set them as its page shows.`,
      over: 'The domain passes all checks again, or was removed.',
    },
    paused: 'The alert was paused.',
    unwatched: 'The code is no longer watched: it was paused, changed or deleted, or has ended.',
    over: (title) => `Over: ${title}`,
    more: (count) => `And ${count} more.`,
    showMore: 'Show more',
    showAll: 'Show all',
    changes: (name, count) => `${name}: ${count} changes`,
    reason: (name) => `You get this mail because your address was added to the alert “${name}”.`,
  },
};
