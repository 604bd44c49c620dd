import type { Texts } from './texts.ts';

export const ja: Texts = {
  direction: 'ltr',
  share: {
    scans: 'スキャン',
    visitors: '訪問者',
    periods: { '7d': '7日間', '30d': '30日間', '90d': '90日間', '12m': '12か月' },
    perDay: '日ごとのスキャン',
    perMonth: '月ごとのスキャン',
    codes: 'コード',
    countries: '国',
    devices: '端末',
    browsers: 'ブラウザー',
    other: 'その他',
    unknown: '不明',
    few: '5未満',
    nothing: 'この期間のスキャンはありません。',
    asTable: '表で見る',
    date: '日付',
    notes: {
      hidden: '訪問者が5人未満の数値は表示されません。',
      withoutBots: 'ボットは数えていません。',
      timezone: 'タイムゾーン: %',
    },
    missing: ['このページはありません', '終了したか、リンクが不完全です。リンクをくれた方にお尋ねください。'],
    password: 'パスワード',
    open: '開く',
    isProtected: 'このページはパスワードで保護されています。',
    wrongPassword: 'パスワードが違います。',
    tooManyTries: '試行回数が多すぎます。1分ほどお待ちください。',
  },
  report: {
    weekly: '週次レポート',
    monthly: '月次レポート',
    comparedWith: (period) => `比較対象: ${period}。`,
    before: (figure) => `前回: ${figure}`,
    page: (number, count) => `${number} / ${count} ページ`,
    cities: '都市',
    share: '割合',
    change: '増減',
    noChange: '変化なし',
    isNew: '新規',
    otherCodes: (count) => `スキャンのあるその他のコード: ${count}`,
    unnamed: '(印刷できない名前)',
    appleMobile: 'iPhone・iPad',
    computer: 'パソコン',
    attached: 'レポート全体は添付ファイルをご覧ください。',
    reason: (owner) => `${owner} があなたのアドレスを登録したため、このレポートをお送りしています。`,
  },
  unsubscribe: {
    unsubscribe: '配信を停止',
    subscribeAgain: '配信を再開',
    isUnsubscribed: '配信を停止しました',
    isMailed: (name, address) => `「${name}」は ${address} に送信されます。`,
    isNotMailed: (name, address) => `「${name}」は ${address} に送信されなくなりました。`,
    missing: ['このリンクは無効です', 'このリンクによるメールはもう届かないか、リンクが不完全です。'],
  },
  alert: {
    silent: {
      title: (name) => `「${name}」がスキャンされていません`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `「${name}」は${duration}スキャンされていません。過去${weeks}週間の同じ時間帯は平均${average}回、最低でも${extreme}回でした。印刷されたコードがまだあって見えること、リンクが機能することをご確認ください。`,
      over: (name) => `「${name}」は再びスキャンされています。`,
    },
    spike: {
      title: (name) => `「${name}」のスキャンが普段よりはるかに多くなっています`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `「${name}」は直近の${duration}に${scans}回スキャンされました。過去${weeks}週間の同じ時間帯は平均${average}回、最大でも${extreme}回でした。統計でスキャン元を確認できます。`,
      over: (name) => `「${name}」のスキャンは普段どおりに戻りました。`,
    },
    scans: {
      near: (name) => `「${name}」のスキャン数が上限に近づいています`,
      usedUp: (name) => `「${name}」のスキャン数が上限に達しました`,
      message: (name, used, max) =>
        `「${name}」は上限${max}回のうち${used}回スキャンされました。残りがなくなると、訪問者はリンク先に到達できません。コードの上限を引き上げることができます。`,
    },
    down: {
      title: (name) => `「${name}」のウェブサイトが停止しています`,
      message: ({ name, url, problem, others }) =>
        `「${name}」のリンク先 ${url} は、約1時間のうちに2回失敗しました。${problem}${others === 0 ? '' : `このコードのほかの停止中のアドレス: ${others}。`}コードをスキャンした人にはエラーが表示されます。ウェブサイトを修復するか、リンク先を変更してください。`,
      over: 'ウェブサイトが再び応答しているか、コードがそこへつながらなくなりました。',
    },
    problems: {
      circles: (host) => `${host} の転送が循環しています。`,
      missing: (host, status) => `${host} はページが存在しないと応答しています (${status})。`,
      failing: (host, status) => `${host} はサーバーエラーを返しています (${status})。`,
      unknownHost: (host) => `${host} のアドレスが見つかりません。`,
      noAnswer: (host) => `${host} が応答しません。`,
      unreachable: (host, detail) => `${host} に接続できません (${detail})。`,
    },
    limits: {
      codes: {
        title: 'プランのコード数が残りわずかです',
        message: (used, limit) =>
          `プランのQRコード${limit}個のうち${used}個が使われています。すべて使うと新規作成はできませんが、既存のコードは引き続き機能します。いくつか削除するか、プランを変更してください。`,
      },
      domains: {
        title: 'プランのドメイン数が残りわずかです',
        message: (used, limit) =>
          `プランのドメイン${limit}個のうち${used}個が使われています。すべて使うと追加はできませんが、既存のドメインは引き続き機能します。`,
      },
      short_codes: {
        title: 'プランで選べる短縮コードが残りわずかです',
        message: (used, limit) =>
          `過去30日間に、${limit}個のうち${used}個の短縮コードが選ばれました。すべて使うと新しいコードには自動生成の短縮コードが付きますが、既存のものは引き続き機能します。`,
      },
      disk: {
        title: 'このサービスのディスクがほぼいっぱいです',
        message: (used, limit) =>
          `スキャンを保存まで保持するディスクの${limit} MBのうち${used} MBが使われています。いっぱいになると短縮リンクが機能しなくなります。空き容量を増やすか、より大きなディスクをお使いください。`,
      },
    },
    limitOver: '再び十分な余裕があります。',
    domain: {
      title: (name) => `ドメイン ${name} の設定が正しくなくなりました`,
      message: (name, found) =>
        `${name} のリンクは今のところ機能していますが、ドメインが確認に通らなくなりました。${found} レコードが誤って変更された場合は、ドメインのページのとおりに設定してください。`,
      over: 'ドメインが再びすべての確認に通ったか、削除されました。',
    },
    paused: 'アラートは一時停止されました。',
    unwatched: 'コードは監視されなくなりました。一時停止、変更、削除、または終了しています。',
    over: (title) => `終了: ${title}`,
    more: (count) => `ほか${count}件。`,
    showMore: '詳細を見る',
    showAll: 'すべて見る',
    changes: (name, count) => `${name}: ${count}件の変化`,
    reason: (name) => `あなたのアドレスがアラート「${name}」に登録されているため、このメールをお送りしています。`,
  },
};
