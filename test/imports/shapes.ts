/** Exports and responses of other services, in the shapes that their documentation and sources have. */

const created = new Date('2020-05-01T12:00:00.000Z');

/** Export files, and the links in them. */
export const tables = {
  bitly: {
    text: 'Bitlink,Long URL,Title,Tags,Created,Total Clicks\nhttps://bit.ly/Menu-1,https://example.com/menu,"Menu, spring","spring,print",2020-05-01T12:00:00+0000,"6,409"\n',
    links: [
      {
        id: 'bit.ly/Menu-1',
        host: 'bit.ly',
        shortCode: 'Menu-1',
        destination: 'https://example.com/menu',
        title: 'Menu, spring',
        tags: ['spring', 'print'],
        createdAt: '2020-05-01T12:00:00+0000',
        scans: 6409,
      },
    ],
  },
  dub: {
    text: 'Short link,Destination URL,Clicks,Created at,Tags\nhttps://dub.sh/menu,https://example.com/menu,12,2020-05-01T12:00:00.000Z,"spring,print"\n',
    links: [{ id: 'dub.sh/menu', shortCode: 'menu', scans: 12, tags: ['spring', 'print'] }],
  },
  shlink: {
    text: 'createdAt,domain,longUrl,shortCode,shortUrl,tags,title,visits\n2020-05-01T12:00:00+02:00,s.test,https://example.com/menu,menu,https://s.test/menu,spring|print,Menu,7\n',
    links: [
      { id: 's.test/menu', host: 's.test', shortCode: 'menu', tags: ['spring', 'print'], title: 'Menu', scans: 7 },
    ],
  },
  kutt: {
    text: 'address,target,domain,visit_count,expire_in,description\nmenu,https://example.com/menu,k.test,3,2027-01-01T00:00:00.000Z,Menu\n',
    links: [{ id: 'k.test/menu', scans: 3, expiresAt: '2027-01-01T00:00:00.000Z', title: 'Menu' }],
  },
  yourls: {
    text: 'keyword;url;title;timestamp;ip;clicks\nmenu;https://example.com/menu;Menu;2020-05-01 12:00:00;203.0.113.7;3\n',
    links: [{ id: 'menu', shortCode: 'menu', title: 'Menu', scans: 3, createdAt: '2020-05-01 12:00:00' }],
  },
  'any service': {
    text: 'name\tdestination_url\tshort_code\tiOS URL\tpassword\nMenu\thttps://example.com/menu\tmenu\thttps://example.com/ios\tno\n',
    links: [
      {
        id: 'menu',
        title: 'Menu',
        rules: [{ when: { devices: ['ios'] }, destination_url: 'https://example.com/ios' }],
        closed: undefined,
      },
    ],
  },
};

/** Entries of APIs, and the codes that they become. */
export const items = {
  bitly: {
    item: {
      created_at: '2020-05-01T12:00:00+0000',
      id: 'bit.ly/3xYzAbC',
      link: 'https://bit.ly/3xYzAbC',
      custom_bitlinks: ['https://bit.ly/Menu-1'],
      long_url: 'https://example.com/menu',
      title: 'Menu',
      archived: false,
      tags: ['spring'],
      deeplinks: [],
    },
    // Both work at Bitly.
    requests: [
      { short_code: 'Menu-1', name: 'Menu', optional: { tags: ['spring'] }, imported: { created_at: created } },
      { short_code: '3xYzAbC', name: 'Menu' },
    ],
  },
  dub: {
    item: {
      id: 'link_1',
      domain: 'dub.sh',
      key: 'menu',
      url: 'https://example.com/menu',
      shortLink: 'https://dub.sh/menu',
      archived: false,
      expiresAt: '2027-01-01T00:00:00.000Z',
      expiredUrl: 'https://example.com/closed',
      password: null,
      title: null,
      comments: 'Table 1',
      ios: 'https://example.com/ios',
      android: null,
      geo: { DE: 'https://example.com/de' },
      tags: [{ id: 'tag_1', name: 'Spring', color: 'red' }],
      clicks: 6409,
      createdAt: '2020-05-01T12:00:00.000Z',
    },
    requests: [
      {
        name: 'menu',
        short_code: 'menu',
        optional: {
          expires_at: new Date('2027-01-01T00:00:00.000Z'),
          fallback_url: 'https://example.com/closed',
          note: 'Table 1',
          tags: ['Spring'],
          rules: [
            { when: { devices: ['ios'] }, destination_url: 'https://example.com/ios' },
            { when: { countries: ['DE'] }, destination_url: 'https://example.com/de' },
          ],
        },
        imported: { created_at: created, scans: 6409 },
      },
    ],
  },
  shlink: {
    item: {
      shortCode: 'menu',
      shortUrl: 'https://s.test/menu',
      longUrl: 'https://example.com/menu',
      dateCreated: '2020-05-01T12:00:00+00:00',
      tags: ['spring'],
      meta: { validSince: null, validUntil: '2027-01-01T00:00:00+00:00', maxVisits: 100 },
      domain: null,
      title: 'Menu',
      crawlable: false,
      forwardQuery: true,
      visitsSummary: { total: 40, nonBots: 30, bots: 10 },
      hasRedirectRules: false,
    },
    requests: [
      {
        name: 'Menu',
        optional: {
          max_scans: 60,
          expires_at: new Date('2027-01-01T00:00:00.000Z'),
          forward_query: true,
          tags: ['spring'],
        },
        imported: { created_at: created, scans: 40 },
      },
    ],
  },
  kutt: {
    item: {
      id: '5a1c4a1e-0000-4000-8000-000000000000',
      address: 'menu',
      banned: false,
      created_at: '2020-05-01T12:00:00.000Z',
      updated_at: '2020-05-01T12:00:00.000Z',
      password: false,
      description: 'Menu',
      expire_in: '2027-01-01T00:00:00.000Z',
      target: 'https://example.com/menu',
      visit_count: 3,
      domain: null,
      link: 'https://kutt.test/menu',
    },
    requests: [
      {
        name: 'Menu',
        short_code: 'menu',
        optional: { expires_at: new Date('2027-01-01T00:00:00.000Z') },
        imported: { created_at: created, scans: 3 },
      },
    ],
  },
  yourls: {
    item: {
      shorturl: 'https://y.test/links/menu',
      url: 'https://example.com/menu',
      title: '  A very\nlong title ',
      timestamp: '2020-05-01 12:00:00',
      ip: '203.0.113.7',
      clicks: '3',
    },
    requests: [{ name: 'A very long title', short_code: 'menu', imported: { created_at: created, scans: 3 } }],
  },
  rebrandly: {
    item: {
      id: 'ffs24cc5b6ee4a5gh7897b06ac2d16d4',
      title: 'Menu',
      slashtag: 'menu',
      destination: 'https://example.com/menu',
      createdAt: '2020-05-01T12:00:00.000Z',
      updatedAt: '2020-05-01T12:00:00.000Z',
      shortUrl: 'rebrand.ly/menu',
      domain: { id: '8f104cc5b6ee4a4ba7897b06ac2ddcfb', fullName: 'rebrand.ly' },
      clicks: 42,
      favourite: false,
      forwardParameters: true,
    },
    requests: [
      {
        name: 'Menu',
        short_code: 'menu',
        optional: { forward_query: true },
        imported: { created_at: created, scans: 42 },
      },
    ],
  },
  'short-io': {
    item: {
      idString: 'lnk_1LHi_2lgKw3',
      originalURL: 'https://example.com/menu',
      path: 'menu',
      title: 'Menu',
      iphoneURL: 'https://example.com/ios',
      androidURL: 'https://example.com/android',
      expiresAt: 1798761600000,
      expiredURL: 'https://example.com/closed',
      clicksLimit: null,
      splitURL: null,
      cloaking: null,
      tags: ['spring'],
      createdAt: '2020-05-01T12:00:00.000Z',
      shortURL: 'https://short.test/menu',
      secureShortURL: 'https://short.test/menu',
    },
    requests: [
      {
        name: 'Menu',
        short_code: 'menu',
        optional: {
          expires_at: new Date('2027-01-01T00:00:00.000Z'),
          fallback_url: 'https://example.com/closed',
          tags: ['spring'],
          rules: [
            { when: { devices: ['ios'] }, destination_url: 'https://example.com/ios' },
            { when: { devices: ['android'] }, destination_url: 'https://example.com/android' },
          ],
        },
        imported: { created_at: created },
      },
    ],
  },
};
