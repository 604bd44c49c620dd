import type { Texts } from './texts.ts';

export const zh: Texts = {
  direction: 'ltr',
  share: {
    scans: '扫描',
    visitors: '访客',
    periods: { '7d': '7 天', '30d': '30 天', '90d': '90 天', '12m': '12 个月' },
    perDay: '每日扫描',
    perMonth: '每月扫描',
    codes: '二维码',
    countries: '国家和地区',
    devices: '设备',
    browsers: '浏览器',
    other: '其他',
    unknown: '未知',
    few: '少于 5',
    nothing: '此期间没有扫描。',
    asTable: '以表格显示',
    date: '日期',
    notes: {
      hidden: '少于 5 位访客的数字不显示。',
      withoutBots: '不计入机器人。',
      timezone: '时区：%',
    },
    missing: ['此页面不存在', '它已结束，或链接不完整。请询问给您链接的人。'],
    password: '密码',
    open: '打开',
    isProtected: '此页面受密码保护。',
    wrongPassword: '密码错误。',
    tooManyTries: '尝试次数过多，请等待一分钟。',
  },
  report: {
    weekly: '周报',
    monthly: '月报',
    comparedWith: (period) => `对比：${period}。`,
    before: (figure) => `之前：${figure}`,
    page: (number, count) => `第 ${number} 页，共 ${count} 页`,
    cities: '城市',
    share: '占比',
    change: '变化',
    noChange: '无变化',
    isNew: '新增',
    otherCodes: (count) => `其他有扫描的二维码：${count}`,
    unnamed: '（名称无法打印）',
    appleMobile: 'iPhone 和 iPad',
    computer: '电脑',
    attached: '完整报告见附件。',
    reason: (owner) => `您收到此报告，是因为 ${owner} 添加了您的地址。`,
  },
  unsubscribe: {
    unsubscribe: '退订',
    subscribeAgain: '重新订阅',
    isUnsubscribed: '您已退订',
    isMailed: (name, address) => `“${name}”会发送到 ${address}。`,
    isNotMailed: (name, address) => `“${name}”不再发送到 ${address}。`,
    missing: ['此链接无效', '您不再通过它收到邮件，或者链接不完整。'],
  },
  alert: {
    silent: {
      title: (name) => `“${name}”不再被扫描`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `“${name}”已有${duration}没有被扫描。在此前 ${weeks} 周的相同时段，平均有 ${average} 次，最少也有 ${extreme} 次。请检查印刷的二维码是否仍在且清晰可见，以及链接是否有效。`,
      over: (name) => `“${name}”又有扫描了。`,
    },
    spike: {
      title: (name) => `“${name}”的扫描量远高于平时`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `“${name}”在最近${duration}内被扫描 ${scans} 次。在此前 ${weeks} 周的相同时段，平均有 ${average} 次，最多 ${extreme} 次。统计页面会显示扫描的来源。`,
      over: (name) => `“${name}”的扫描量已恢复到平时的水平。`,
    },
    scans: {
      near: (name) => `“${name}”的扫描次数即将用完`,
      usedUp: (name) => `“${name}”的扫描次数已用完`,
      message: (name, used, max) =>
        `“${name}”已使用 ${max} 次扫描中的 ${used} 次。用完后，访客将无法到达目标页面。您可以提高该二维码的上限。`,
    },
    down: {
      title: (name) => `“${name}”的网站无法访问`,
      message: ({ name, url, problem, others }) =>
        `“${name}”指向 ${url}，该地址在约一小时内两次失败。${problem}${others === 0 ? '' : `该二维码其他无法访问的地址：${others}。`}扫描二维码的人会看到错误。请修复网站，或更改二维码的目标。`,
      over: '网站已恢复，或二维码不再指向那里。',
    },
    problems: {
      circles: (host) => `${host} 循环重定向。`,
      missing: (host, status) => `${host} 回应该页面不存在（${status}）。`,
      failing: (host, status) => `${host} 回应自身出错（${status}）。`,
      unknownHost: (host) => `找不到 ${host} 的地址。`,
      noAnswer: (host) => `${host} 没有回应。`,
      unreachable: (host, detail) => `无法连接 ${host}（${detail}）。`,
    },
    limits: {
      codes: {
        title: '套餐的二维码即将用完',
        message: (used, limit) =>
          `您的套餐共有 ${limit} 个二维码，已使用 ${used} 个。全部用完后无法再创建，现有的仍然有效。请删除一些，或更换套餐。`,
      },
      domains: {
        title: '套餐的域名即将用完',
        message: (used, limit) =>
          `您的套餐共有 ${limit} 个域名，已使用 ${used} 个。全部用完后无法再添加，现有的仍然有效。`,
      },
      short_codes: {
        title: '套餐的自选短码即将用完',
        message: (used, limit) =>
          `最近 30 天内已自选 ${limit} 个短码中的 ${used} 个。全部用完后，新二维码会得到自动生成的短码，现有的仍然有效。`,
      },
      disk: {
        title: '此服务的磁盘几乎已满',
        message: (used, limit) =>
          `保存扫描直到入库的磁盘已使用 ${limit} MB 中的 ${used} MB。磁盘满后，短链接将停止工作。请清理空间，或使用更大的磁盘。`,
      },
    },
    limitOver: '余量又足够了。',
    domain: {
      title: (name) => `域名 ${name} 的设置不再正确`,
      message: (name, found) =>
        `${name} 上的链接目前仍然有效，但该域名不再通过我们的检查。${found} 如果记录被误改，请按其页面所示进行设置。`,
      over: '域名已再次通过所有检查，或已被移除。',
    },
    paused: '提醒已暂停。',
    unwatched: '该二维码不再被监测：已暂停、更改、删除或已结束。',
    over: (title) => `已结束：${title}`,
    more: (count) => `另有 ${count} 项。`,
    showMore: '查看更多',
    showAll: '查看全部',
    changes: (name, count) => `${name}：${count} 项变化`,
    reason: (name) => `您收到此邮件，是因为您的地址已添加到提醒“${name}”。`,
  },
};
