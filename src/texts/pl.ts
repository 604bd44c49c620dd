import type { Texts } from './texts.ts';

export const pl: Texts = {
  direction: 'ltr',
  share: {
    scans: 'Skany',
    visitors: 'Odwiedzający',
    periods: { '7d': '7 dni', '30d': '30 dni', '90d': '90 dni', '12m': '12 miesięcy' },
    perDay: 'Skany dziennie',
    perMonth: 'Skany miesięcznie',
    codes: 'Kody',
    countries: 'Kraje',
    devices: 'Urządzenia',
    browsers: 'Przeglądarki',
    other: 'Inne',
    unknown: 'Nieznany',
    few: 'mniej niż 5',
    nothing: 'Brak skanów w tym okresie.',
    asTable: 'Jako tabela',
    date: 'Data',
    notes: {
      hidden: 'Liczby dla mniej niż 5 odwiedzających nie są pokazywane.',
      withoutBots: 'Boty nie są liczone.',
      timezone: 'Strefa czasowa: %',
    },
    missing: ['Ta strona nie istnieje', 'Została zamknięta lub link jest niepełny. Zapytaj osobę, od której go masz.'],
    password: 'Hasło',
    open: 'Otwórz',
    isProtected: 'Ta strona jest chroniona hasłem.',
    wrongPassword: 'Hasło jest nieprawidłowe.',
    tooManyTries: 'Zbyt wiele prób. Poczekaj minutę.',
  },
  report: {
    weekly: 'Raport tygodniowy',
    monthly: 'Raport miesięczny',
    comparedWith: (period) => `Porównanie: ${period}.`,
    before: (figure) => `poprzednio: ${figure}`,
    page: (number, count) => `Strona ${number} z ${count}`,
    cities: 'Miasta',
    share: 'Udział',
    change: 'Zmiana',
    noChange: 'bez zmian',
    isNew: 'nowe',
    otherCodes: (count) => `Inne kody ze skanami: ${count}`,
    unnamed: '(nazwy nie da się wydrukować)',
    appleMobile: 'iPhone i iPad',
    computer: 'Komputer',
    attached: 'Cały raport jest w załączniku.',
    reason: (owner) => `Ten raport przychodzi, ponieważ ${owner} dodał ten adres.`,
  },
  unsubscribe: {
    unsubscribe: 'Zrezygnuj',
    subscribeAgain: 'Subskrybuj ponownie',
    isUnsubscribed: 'Subskrypcja zakończona',
    isMailed: (name, address) => `„${name}” jest wysyłane na adres ${address}.`,
    isNotMailed: (name, address) => `„${name}” nie jest już wysyłane na adres ${address}.`,
    missing: ['Ten link donikąd nie prowadzi', 'Nie wysyła już wiadomości albo jest niepełny.'],
  },
  alert: {
    silent: {
      title: (name) => `„${name}” nie jest już skanowany`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `„${name}” nie jest już skanowany. Czas bez skanu: ${duration}. W tych samych godzinach wcześniejszych tygodni (liczba: ${weeks}) średnia wynosiła ${average}, a minimum ${extreme}. Sprawdź, czy wydrukowany kod nadal jest na miejscu i jest widoczny oraz czy jego link działa.`,
      over: (name) => `„${name}” jest znowu skanowany.`,
    },
    spike: {
      title: (name) => `„${name}” jest skanowany znacznie częściej niż zwykle`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `„${name}”: liczba skanów ${scans}. Czas: ${duration}. W tych samych godzinach wcześniejszych tygodni (liczba: ${weeks}) średnia wynosiła ${average}, a maksimum ${extreme}. Statystyki pokazują, skąd pochodzą skany.`,
      over: (name) => `„${name}” jest znowu skanowany mniej więcej tak często jak zwykle.`,
    },
    scans: {
      near: (name) => `„${name}” prawie wykorzystał swoje skany`,
      usedUp: (name) => `„${name}” wykorzystał swoje skany`,
      message: (name, used, max) =>
        `„${name}”: wykorzystane skany ${used} z ${max}. Gdy się skończą, goście nie dotrą do celu. Limit kodu można zwiększyć.`,
    },
    down: {
      title: (name) => `Strona kodu „${name}” nie działa`,
      message: ({ name, url, problem, others }) =>
        `„${name}” prowadzi do ${url}, a ten adres zawiódł dwa razy w ciągu około godziny. ${problem}${others === 0 ? '' : ` Inne adresy tego kodu, które nie działają: ${others}.`} Osoby skanujące kod widzą błąd. Napraw stronę albo zmień cel kodu.`,
      over: 'Strona znowu odpowiada albo kod już tam nie prowadzi.',
    },
    problems: {
      circles: (host) => `${host} przekierowuje w kółko.`,
      missing: (host, status) => `${host} odpowiada, że strona nie istnieje (${status}).`,
      failing: (host, status) => `${host} odpowiada własnym błędem (${status}).`,
      unknownHost: (host) => `Nie można znaleźć adresu ${host}.`,
      noAnswer: (host) => `${host} nie odpowiada.`,
      unreachable: (host, detail) => `Nie można połączyć się z ${host} (${detail}).`,
    },
    limits: {
      codes: {
        title: 'W planie prawie nie ma już kodów',
        message: (used, limit) =>
          `Wykorzystane kody QR planu: ${used} z ${limit}. Potem nie można tworzyć nowych; istniejące nadal działają. Usuń niektóre albo zmień plan.`,
      },
      domains: {
        title: 'W planie prawie nie ma już domen',
        message: (used, limit) =>
          `Wykorzystane domeny planu: ${used} z ${limit}. Potem nie można dodawać nowych; istniejące nadal działają.`,
      },
      short_codes: {
        title: 'W planie prawie nie ma już wybieranych krótkich kodów',
        message: (used, limit) =>
          `Krótkie kody wybrane w ostatnich 30 dniach: ${used} z ${limit}. Potem nowe kody dostają wygenerowane; istniejące nadal działają.`,
      },
      disk: {
        title: 'Dysk tej usługi jest prawie pełny',
        message: (used, limit) =>
          `Zajęte ${used} z ${limit} MB na dysku, który przechowuje skany, dopóki nie zostaną zapisane. Gdy będzie pełny, krótkie linki przestaną działać. Zwolnij miejsce albo użyj większego dysku.`,
      },
    },
    limitOver: 'Znowu zostało wystarczająco dużo.',
    domain: {
      title: (name) => `Domena ${name} nie jest już poprawnie ustawiona`,
      message: (name, found) =>
        `Linki w domenie ${name} na razie działają, ale domena nie przechodzi już naszych kontroli. ${found} Jeśli jej rekordy zmieniono przez pomyłkę, ustaw je tak, jak pokazuje jej strona.`,
      over: 'Domena znowu przechodzi wszystkie kontrole albo została usunięta.',
    },
    paused: 'Alert został wstrzymany.',
    unwatched: 'Kod nie jest już obserwowany: został wstrzymany, zmieniony lub usunięty albo się zakończył.',
    over: (title) => `Zakończone: ${title}`,
    more: (count) => `I jeszcze ${count}.`,
    showMore: 'Pokaż więcej',
    showAll: 'Pokaż wszystko',
    changes: (name, count) => `${name}: liczba zmian ${count}`,
    reason: (name) => `Ta wiadomość przychodzi, ponieważ ten adres dodano do alertu „${name}”.`,
  },
};
