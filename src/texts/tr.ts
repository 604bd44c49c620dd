import type { Texts } from './texts.ts';

export const tr: Texts = {
  direction: 'ltr',
  share: {
    scans: 'Tarama',
    visitors: 'Ziyaretçi',
    periods: { '7d': '7 gün', '30d': '30 gün', '90d': '90 gün', '12m': '12 ay' },
    perDay: 'Günlük tarama',
    perMonth: 'Aylık tarama',
    codes: 'Kodlar',
    countries: 'Ülkeler',
    devices: 'Cihazlar',
    browsers: 'Tarayıcılar',
    other: 'Diğerleri',
    unknown: 'Bilinmiyor',
    few: '5’ten az',
    nothing: 'Bu dönemde tarama yok.',
    asTable: 'Tablo olarak',
    date: 'Tarih',
    notes: {
      hidden: '5’ten az ziyaretçiye ait sayılar gösterilmez.',
      withoutBots: 'Botlar sayılmaz.',
      timezone: 'Saat dilimi: %',
    },
    missing: ['Böyle bir sayfa yok', 'Sayfa kapatılmış ya da bağlantı eksik. Bağlantıyı veren kişiye sorun.'],
    password: 'Parola',
    open: 'Aç',
    isProtected: 'Bu sayfa bir parola ile korunuyor.',
    wrongPassword: 'Parola yanlış.',
    tooManyTries: 'Çok fazla deneme. Lütfen bir dakika bekleyin.',
  },
  report: {
    weekly: 'Haftalık rapor',
    monthly: 'Aylık rapor',
    comparedWith: (period) => `Karşılaştırma: ${period}.`,
    before: (figure) => `önceki: ${figure}`,
    page: (number, count) => `Sayfa ${number} / ${count}`,
    cities: 'Şehirler',
    share: 'Pay',
    change: 'Değişim',
    noChange: 'değişmedi',
    isNew: 'yeni',
    otherCodes: (count) => `Taraması olan diğer kodlar: ${count}`,
    unnamed: '(ad yazdırılamıyor)',
    appleMobile: 'iPhone ve iPad',
    computer: 'Bilgisayar',
    attached: 'Raporun tamamı ektedir.',
    reason: (owner) => `Bu raporu, ${owner} adresinizi eklediği için alıyorsunuz.`,
  },
  unsubscribe: {
    unsubscribe: 'Abonelikten çık',
    subscribeAgain: 'Yeniden abone ol',
    isUnsubscribed: 'Abonelikten çıktınız',
    isMailed: (name, address) => `“${name}” şu adrese gönderiliyor: ${address}.`,
    isNotMailed: (name, address) => `“${name}” artık şu adrese gönderilmiyor: ${address}.`,
    missing: ['Bu bağlantı bir yere götürmüyor', 'Artık bununla e-posta almıyorsunuz ya da bağlantı eksik.'],
  },
  alert: {
    silent: {
      title: (name) => `“${name}” artık taranmıyor`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `“${name}” artık taranmıyor. Taramasız süre: ${duration}. Önceki ${weeks} haftanın aynı saatlerinde ortalama ${average}, en az ${extreme} tarama vardı. Basılı kodun hâlâ yerinde ve görünür olduğunu ve bağlantısının çalıştığını kontrol edin.`,
      over: (name) => `“${name}” yeniden taranıyor.`,
    },
    spike: {
      title: (name) => `“${name}” her zamankinden çok daha fazla taranıyor`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `“${name}” ${scans} kez tarandı. Süre: ${duration}. Önceki ${weeks} haftanın aynı saatlerinde ortalama ${average}, en çok ${extreme} tarama vardı. İstatistikler taramaların nereden geldiğini gösterir.`,
      over: (name) => `“${name}” yeniden her zamanki kadar taranıyor.`,
    },
    scans: {
      near: (name) => `“${name}” taramalarını neredeyse bitirdi`,
      usedUp: (name) => `“${name}” taramalarını bitirdi`,
      message: (name, used, max) =>
        `“${name}” için kullanılan tarama: ${used} / ${max}. Hiç kalmadığında konuklar hedefe ulaşamaz. Kodun sınırını yükseltebilirsiniz.`,
    },
    down: {
      title: (name) => `“${name}” kodunun sitesi çalışmıyor`,
      message: ({ name, url, problem, others }) =>
        `“${name}” şuraya götürüyor: ${url}. Burası yaklaşık bir saat içinde iki kez başarısız oldu. ${problem}${others === 0 ? '' : ` Kodun çalışmayan diğer adresleri: ${others}.`} Kodu tarayanlar bir hata görüyor. Siteyi onarın ya da kodun hedefini değiştirin.`,
      over: 'Site yeniden yanıt veriyor ya da kod artık oraya götürmüyor.',
    },
    problems: {
      circles: (host) => `${host} döngü içinde yönlendiriyor.`,
      missing: (host, status) => `${host} sayfanın olmadığını bildiriyor (${status}).`,
      failing: (host, status) => `${host} kendi hatasıyla yanıt veriyor (${status}).`,
      unknownHost: (host) => `${host} adresi bulunamıyor.`,
      noAnswer: (host) => `${host} yanıt vermiyor.`,
      unreachable: (host, detail) => `${host} sunucusuna ulaşılamıyor (${detail}).`,
    },
    limits: {
      codes: {
        title: 'Planda neredeyse hiç kod kalmadı',
        message: (used, limit) =>
          `Planınızdaki QR kodlarından kullanılan: ${used} / ${limit}. Hepsi kullanıldığında yenisi oluşturulamaz; var olanlar çalışmaya devam eder. Bazılarını silin ya da planı değiştirin.`,
      },
      domains: {
        title: 'Planda neredeyse hiç alan adı kalmadı',
        message: (used, limit) =>
          `Planınızdaki alan adlarından kullanılan: ${used} / ${limit}. Hepsi kullanıldığında yenisi eklenemez; var olanlar çalışmaya devam eder.`,
      },
      short_codes: {
        title: 'Planda neredeyse hiç seçilebilir kısa kod kalmadı',
        message: (used, limit) =>
          `Son 30 günde seçilen kısa kodlar: ${used} / ${limit}. Hepsi kullanıldığında yeni kodlar üretilmiş kısa kod alır; var olanlar çalışmaya devam eder.`,
      },
      disk: {
        title: 'Bu hizmetin diski neredeyse dolu',
        message: (used, limit) =>
          `Taramaları kaydedilene kadar tutan diskte kullanılan: ${used} / ${limit} MB. Dolduğunda kısa bağlantılar çalışmaz. Yer açın ya da daha büyük bir disk kullanın.`,
      },
    },
    limitOver: 'Yeniden yeterince var.',
    domain: {
      title: (name) => `${name} alan adı artık doğru ayarlanmış değil`,
      message: (name, found) =>
        `${name} üzerindeki bağlantılar şimdilik çalışıyor, ancak alan adı artık denetimlerimizden geçmiyor. ${found} Kayıtları yanlışlıkla değiştirildiyse, sayfasında gösterildiği gibi ayarlayın.`,
      over: 'Alan adı yeniden tüm denetimlerden geçiyor ya da kaldırıldı.',
    },
    paused: 'Uyarı duraklatıldı.',
    unwatched: 'Kod artık izlenmiyor: duraklatıldı, değiştirildi ya da silindi veya sona erdi.',
    over: (title) => `Sona erdi: ${title}`,
    more: (count) => `Ve ${count} tane daha.`,
    showMore: 'Daha fazla göster',
    showAll: 'Tümünü göster',
    changes: (name, count) => `${name}: ${count} değişiklik`,
    reason: (name) => `Bu e-postayı, adresiniz “${name}” uyarısına eklendiği için alıyorsunuz.`,
  },
};
