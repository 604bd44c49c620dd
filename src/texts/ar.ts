import type { Texts } from './texts.ts';

export const ar: Texts = {
  direction: 'rtl',
  share: {
    scans: 'عمليات المسح',
    visitors: 'الزوار',
    periods: { '7d': '7 أيام', '30d': '30 يومًا', '90d': '90 يومًا', '12m': '12 شهرًا' },
    perDay: 'عمليات المسح في اليوم',
    perMonth: 'عمليات المسح في الشهر',
    codes: 'الرموز',
    countries: 'البلدان',
    devices: 'الأجهزة',
    browsers: 'المتصفحات',
    other: 'أخرى',
    unknown: 'غير معروف',
    few: 'أقل من 5',
    nothing: 'لا توجد عمليات مسح في هذه الفترة.',
    asTable: 'كجدول',
    date: 'التاريخ',
    notes: {
      hidden: 'لا تظهر أرقام أقل من 5 زوار.',
      withoutBots: 'لا تُحتسب الروبوتات.',
      timezone: 'المنطقة الزمنية: %',
    },
    missing: ['هذه الصفحة غير موجودة', 'لقد أُغلقت أو أن الرابط غير مكتمل. اسأل من أعطاك إياه.'],
    password: 'كلمة المرور',
    open: 'فتح',
    isProtected: 'هذه الصفحة محمية بكلمة مرور.',
    wrongPassword: 'كلمة المرور غير صحيحة.',
    tooManyTries: 'محاولات كثيرة جدًا. يُرجى الانتظار دقيقة.',
  },
  report: {
    weekly: 'تقرير أسبوعي',
    monthly: 'تقرير شهري',
    comparedWith: (period) => `المقارنة: ${period}.`,
    before: (figure) => `سابقًا: ${figure}`,
    page: (number, count) => `صفحة ${number} من ${count}`,
    cities: 'المدن',
    share: 'النسبة',
    change: 'التغيّر',
    noChange: 'بلا تغيير',
    isNew: 'جديد',
    otherCodes: (count) => `رموز أخرى مُسحت: ${count}`,
    unnamed: '(اسم لا يمكن طباعته)',
    appleMobile: 'iPhone وiPad',
    computer: 'حاسوب',
    attached: 'التقرير الكامل مرفق.',
    reason: (owner) => `تصلك هذه الرسالة لأن ${owner} أضاف عنوانك.`,
  },
  unsubscribe: {
    unsubscribe: 'إلغاء الاشتراك',
    subscribeAgain: 'الاشتراك من جديد',
    isUnsubscribed: 'أُلغي اشتراكك',
    isMailed: (name, address) => `يُرسل «${name}» إلى ${address}.`,
    isNotMailed: (name, address) => `لم يعد «${name}» يُرسل إلى ${address}.`,
    missing: ['هذا الرابط لا يؤدي إلى شيء', 'لم تعد تصلك رسائل عبره، أو أن الرابط غير مكتمل.'],
  },
  alert: {
    silent: {
      title: (name) => `لم يعد «${name}» يُمسح`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `لم يعد «${name}» يُمسح. المدة بلا مسح: ${duration}. في الساعات نفسها من الأسابيع السابقة (العدد: ${weeks}) كان المتوسط ${average} والحد الأدنى ${extreme}. تحقق من أن الرمز المطبوع ما زال في مكانه وظاهرًا، ومن أن رابطه يعمل.`,
      over: (name) => `عاد «${name}» يُمسح.`,
    },
    spike: {
      title: (name) => `يُمسح «${name}» أكثر بكثير من المعتاد`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `عدد عمليات مسح «${name}»: ${scans}. المدة: ${duration}. في الساعات نفسها من الأسابيع السابقة (العدد: ${weeks}) كان المتوسط ${average} والحد الأقصى ${extreme}. تُظهر الإحصاءات مصدر عمليات المسح.`,
      over: (name) => `عاد «${name}» يُمسح كالمعتاد تقريبًا.`,
    },
    scans: {
      near: (name) => `كادت عمليات مسح «${name}» تنفد`,
      usedUp: (name) => `نفدت عمليات مسح «${name}»`,
      message: (name, used, max) =>
        `استُخدم من عمليات مسح «${name}»: ${used} من ${max}. عندما تنفد لا يصل الزوار إلى الوجهة. يمكنك رفع حد الرمز.`,
    },
    down: {
      title: (name) => `موقع «${name}» لا يعمل`,
      message: ({ name, url, problem, others }) =>
        `يقود «${name}» إلى ${url}، وقد فشل مرتين خلال ساعة تقريبًا. ${problem}${others === 0 ? '' : ` عناوين أخرى للرمز لا تعمل: ${others}.`} يرى من يمسح الرمز خطأً. أصلح الموقع أو غيّر وجهة الرمز.`,
      over: 'عاد الموقع يستجيب، أو لم يعد الرمز يقود إليه.',
    },
    problems: {
      circles: (host) => `يعيد ${host} التوجيه في حلقة.`,
      missing: (host, status) => `يجيب ${host} بأن الصفحة غير موجودة (${status}).`,
      failing: (host, status) => `يجيب ${host} بخطأ لديه (${status}).`,
      unknownHost: (host) => `تعذّر العثور على عنوان ${host}.`,
      noAnswer: (host) => `لا يستجيب ${host}.`,
      unreachable: (host, detail) => `تعذّر الوصول إلى ${host} (${detail}).`,
    },
    limits: {
      codes: {
        title: 'كادت رموز الخطة تنفد',
        message: (used, limit) =>
          `استُخدم من رموز QR في خطتك: ${used} من ${limit}. بعد نفادها لا يمكن إنشاء المزيد، وتبقى الرموز الحالية تعمل. احذف بعضها أو غيّر الخطة.`,
      },
      domains: {
        title: 'كادت نطاقات الخطة تنفد',
        message: (used, limit) =>
          `استُخدم من نطاقات خطتك: ${used} من ${limit}. بعد نفادها لا يمكن إضافة المزيد، وتبقى النطاقات الحالية تعمل.`,
      },
      short_codes: {
        title: 'كادت الرموز القصيرة المختارة في الخطة تنفد',
        message: (used, limit) =>
          `الرموز القصيرة المختارة في آخر 30 يومًا: ${used} من ${limit}. بعد نفادها تحصل الرموز الجديدة على رموز مولّدة، وتبقى الحالية تعمل.`,
      },
      disk: {
        title: 'قرص هذه الخدمة شبه ممتلئ',
        message: (used, limit) =>
          `المستخدم من القرص الذي يحفظ عمليات المسح حتى تُخزَّن: ${used} من ${limit} ميغابايت. عندما يمتلئ تتوقف الروابط القصيرة. وفّر مساحة أو استخدم قرصًا أكبر.`,
      },
    },
    limitOver: 'عاد المتبقي كافيًا.',
    domain: {
      title: (name) => `لم يعد النطاق ${name} معدًّا كما يجب`,
      message: (name, found) =>
        `ما زالت روابط ${name} تعمل الآن، لكن النطاق لم يعد يجتاز فحوصنا. ${found} إذا غُيّرت سجلاته بالخطأ فاضبطها كما تُظهر صفحته.`,
      over: 'عاد النطاق يجتاز كل الفحوص، أو أُزيل.',
    },
    paused: 'أُوقف التنبيه مؤقتًا.',
    unwatched: 'لم يعد الرمز مراقبًا: أُوقف أو غُيّر أو حُذف أو انتهى.',
    over: (title) => `انتهى: ${title}`,
    more: (count) => `وغيرها: ${count}.`,
    showMore: 'عرض المزيد',
    showAll: 'عرض الكل',
    changes: (name, count) => `${name}: عدد التغيّرات ${count}`,
    reason: (name) => `تصلك هذه الرسالة لأن عنوانك أُضيف إلى التنبيه «${name}».`,
  },
};
