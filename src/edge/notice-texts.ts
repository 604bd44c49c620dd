/** A page with the form of a link with a password: src/edge/password-texts.ts has its words. */
export type FormName = 'password' | 'wrong_password' | 'too_many_tries';

/** Why a guest sees a page of words alone. */
type WordsName =
  | 'unknown'
  | 'paused'
  | 'draft'
  | 'not_started'
  | 'expired'
  | 'limit_reached'
  | 'deleted'
  | 'disabled'
  | 'busy'
  | 'method';

/** Why a guest sees a page instead of a destination. */
export type DropName = WordsName | FormName;

/** A page that a guest can see: instead of a destination, or at the root of a custom domain. */
export type NoticeName = DropName | 'root';

/** The words of one language. */
export interface NoticeTexts extends Record<WordsName, readonly [title: string, text: string]> {
  /** In place of the second sentence of `not_started`, with the time at `%`. */
  startsOn: string;
  report: string;
  direction?: 'rtl';
}

export const en: NoticeTexts = {
  unknown: ['No such code', 'This QR code does not exist. Check the link, or ask the person who gave it to you.'],
  paused: ['This code is paused', 'It was paused by its owner. Please try again later.'],
  draft: ['This code is not active yet', 'Its owner has not published it yet. Please try again later.'],
  not_started: ['This code is not active yet', 'It starts later. Please try again then.'],
  expired: ['This code has expired', 'Its owner set an end, and that has passed.'],
  limit_reached: [
    'This code has reached its limit',
    'Its owner allowed a number of scans, and all of them have been used.',
  ],
  deleted: ['This code is gone', 'It was deleted by its owner and will not work again.'],
  disabled: ['This link is disabled', 'The operator of this service has disabled it.'],
  busy: ['One moment, please', 'The service is busy. Please try again in a few seconds.'],
  method: ['Method not allowed', 'A short link accepts only GET and HEAD requests.'],
  startsOn: 'It starts on % UTC. Please try again then.',
  report: 'Report this link',
};

/** By the primary subtag of a language; English is the fallback. */
export const noticeTexts: Record<string, NoticeTexts> = {
  en,
  de: {
    unknown: [
      'Diesen Code gibt es nicht',
      'Dieser QR-Code existiert nicht. Prüfen Sie den Link, oder fragen Sie die Person, von der Sie ihn haben.',
    ],
    paused: ['Dieser Code ist pausiert', 'Er wurde vom Inhaber pausiert. Bitte versuchen Sie es später noch einmal.'],
    draft: [
      'Dieser Code ist noch nicht aktiv',
      'Der Inhaber hat ihn noch nicht veröffentlicht. Bitte versuchen Sie es später noch einmal.',
    ],
    not_started: ['Dieser Code ist noch nicht aktiv', 'Er beginnt später. Bitte versuchen Sie es dann noch einmal.'],
    expired: ['Dieser Code ist abgelaufen', 'Der Inhaber hat ein Ende festgelegt, und das ist vorbei.'],
    limit_reached: [
      'Dieser Code hat sein Limit erreicht',
      'Der Inhaber hat eine Anzahl von Scans erlaubt, und alle sind verbraucht.',
    ],
    deleted: ['Diesen Code gibt es nicht mehr', 'Er wurde vom Inhaber gelöscht und funktioniert nicht mehr.'],
    disabled: ['Dieser Link ist gesperrt', 'Der Betreiber dieses Dienstes hat ihn gesperrt.'],
    busy: [
      'Einen Moment bitte',
      'Der Dienst ist ausgelastet. Bitte versuchen Sie es in ein paar Sekunden noch einmal.',
    ],
    method: ['Methode nicht erlaubt', 'Ein Kurzlink nimmt nur GET- und HEAD-Anfragen an.'],
    startsOn: 'Er beginnt am % UTC. Bitte versuchen Sie es dann noch einmal.',
    report: 'Diesen Link melden',
  },
  fr: {
    unknown: [
      'Code introuvable',
      "Ce code QR n'existe pas. Vérifiez le lien, ou demandez à la personne qui vous l'a donné.",
    ],
    paused: ['Ce code est en pause', 'Son propriétaire l’a mis en pause. Veuillez réessayer plus tard.'],
    draft: [
      "Ce code n'est pas encore actif",
      "Son propriétaire ne l'a pas encore publié. Veuillez réessayer plus tard.",
    ],
    not_started: ["Ce code n'est pas encore actif", 'Il commence plus tard. Veuillez réessayer à ce moment-là.'],
    expired: ['Ce code a expiré', 'Son propriétaire a fixé une fin, et elle est passée.'],
    limit_reached: [
      'Ce code a atteint sa limite',
      'Son propriétaire a autorisé un nombre de scans, et tous ont été utilisés.',
    ],
    deleted: ["Ce code n'existe plus", 'Son propriétaire l’a supprimé et il ne fonctionnera plus.'],
    disabled: ['Ce lien est désactivé', "L'exploitant de ce service l'a désactivé."],
    busy: ['Un instant, s’il vous plaît', 'Le service est occupé. Veuillez réessayer dans quelques secondes.'],
    method: ['Méthode non autorisée', "Un lien court n'accepte que les requêtes GET et HEAD."],
    startsOn: 'Il commence le % UTC. Veuillez réessayer à ce moment-là.',
    report: 'Signaler ce lien',
  },
  es: {
    unknown: [
      'Este código no existe',
      'Este código QR no existe. Compruebe el enlace o pregunte a la persona que se lo dio.',
    ],
    paused: ['Este código está en pausa', 'Su propietario lo ha pausado. Inténtelo de nuevo más tarde.'],
    draft: [
      'Este código aún no está activo',
      'Su propietario todavía no lo ha publicado. Inténtelo de nuevo más tarde.',
    ],
    not_started: ['Este código aún no está activo', 'Empieza más tarde. Inténtelo de nuevo entonces.'],
    expired: ['Este código ha caducado', 'Su propietario fijó un final, y ya ha pasado.'],
    limit_reached: [
      'Este código ha llegado a su límite',
      'Su propietario permitió un número de escaneos, y todos se han usado.',
    ],
    deleted: ['Este código ya no existe', 'Su propietario lo eliminó y no volverá a funcionar.'],
    disabled: ['Este enlace está desactivado', 'El operador de este servicio lo ha desactivado.'],
    busy: ['Un momento, por favor', 'El servicio está ocupado. Inténtelo de nuevo en unos segundos.'],
    method: ['Método no permitido', 'Un enlace corto solo acepta solicitudes GET y HEAD.'],
    startsOn: 'Empieza el % UTC. Inténtelo de nuevo entonces.',
    report: 'Denunciar este enlace',
  },
  it: {
    unknown: [
      'Questo codice non esiste',
      'Questo codice QR non esiste. Controlli il link o chieda alla persona che glielo ha dato.',
    ],
    paused: ['Questo codice è in pausa', 'Il proprietario lo ha messo in pausa. Riprovi più tardi.'],
    draft: ['Questo codice non è ancora attivo', 'Il proprietario non lo ha ancora pubblicato. Riprovi più tardi.'],
    not_started: ['Questo codice non è ancora attivo', 'Inizia più tardi. Riprovi in quel momento.'],
    expired: ['Questo codice è scaduto', 'Il proprietario ha fissato una fine, che è passata.'],
    limit_reached: [
      'Questo codice ha raggiunto il limite',
      'Il proprietario ha consentito un numero di scansioni, e sono state tutte usate.',
    ],
    deleted: ['Questo codice non c’è più', 'Il proprietario lo ha eliminato e non funzionerà più.'],
    disabled: ['Questo link è disattivato', 'Il gestore di questo servizio lo ha disattivato.'],
    busy: ['Un momento, per favore', 'Il servizio è occupato. Riprovi tra qualche secondo.'],
    method: ['Metodo non consentito', 'Un link breve accetta solo richieste GET e HEAD.'],
    startsOn: 'Inizia il % UTC. Riprovi in quel momento.',
    report: 'Segnala questo link',
  },
  pt: {
    unknown: [
      'Este código não existe',
      'Este código QR não existe. Verifique o link ou pergunte à pessoa que o deu a você.',
    ],
    paused: ['Este código está em pausa', 'Foi pausado pelo proprietário. Tente novamente mais tarde.'],
    draft: ['Este código ainda não está ativo', 'O proprietário ainda não o publicou. Tente novamente mais tarde.'],
    not_started: ['Este código ainda não está ativo', 'Começa mais tarde. Tente novamente nessa altura.'],
    expired: ['Este código expirou', 'O proprietário definiu um fim, que já passou.'],
    limit_reached: [
      'Este código atingiu o limite',
      'O proprietário permitiu um número de leituras, e todas foram usadas.',
    ],
    deleted: ['Este código já não existe', 'Foi eliminado pelo proprietário e não voltará a funcionar.'],
    disabled: ['Este link está desativado', 'O operador deste serviço desativou-o.'],
    busy: ['Um momento, por favor', 'O serviço está ocupado. Tente novamente dentro de alguns segundos.'],
    method: ['Método não permitido', 'Um link curto só aceita pedidos GET e HEAD.'],
    startsOn: 'Começa em % UTC. Tente novamente nessa altura.',
    report: 'Denunciar este link',
  },
  nl: {
    unknown: [
      'Deze code bestaat niet',
      'Deze QR-code bestaat niet. Controleer de link of vraag de persoon van wie u die hebt.',
    ],
    paused: ['Deze code is gepauzeerd', 'De eigenaar heeft de code gepauzeerd. Probeer het later opnieuw.'],
    draft: [
      'Deze code is nog niet actief',
      'De eigenaar heeft de code nog niet gepubliceerd. Probeer het later opnieuw.',
    ],
    not_started: ['Deze code is nog niet actief', 'De code begint later. Probeer het dan opnieuw.'],
    expired: ['Deze code is verlopen', 'De eigenaar heeft een einde ingesteld, en dat is voorbij.'],
    limit_reached: [
      'Deze code heeft de limiet bereikt',
      'De eigenaar stond een aantal scans toe, en die zijn allemaal gebruikt.',
    ],
    deleted: ['Deze code bestaat niet meer', 'De eigenaar heeft de code verwijderd en die werkt niet meer.'],
    disabled: ['Deze link is uitgeschakeld', 'De beheerder van deze dienst heeft de link uitgeschakeld.'],
    busy: ['Een ogenblik geduld', 'De dienst is bezet. Probeer het over een paar seconden opnieuw.'],
    method: ['Methode niet toegestaan', 'Een korte link accepteert alleen GET- en HEAD-verzoeken.'],
    startsOn: 'De code begint op % UTC. Probeer het dan opnieuw.',
    report: 'Deze link melden',
  },
  pl: {
    unknown: ['Nie ma takiego kodu', 'Ten kod QR nie istnieje. Sprawdź link lub zapytaj osobę, od której go masz.'],
    paused: ['Ten kod jest wstrzymany', 'Właściciel wstrzymał ten kod. Spróbuj ponownie później.'],
    draft: ['Ten kod nie jest jeszcze aktywny', 'Właściciel jeszcze go nie opublikował. Spróbuj ponownie później.'],
    not_started: ['Ten kod nie jest jeszcze aktywny', 'Zacznie działać później. Spróbuj ponownie w tym czasie.'],
    expired: ['Ten kod wygasł', 'Właściciel ustalił koniec, który już minął.'],
    limit_reached: [
      'Ten kod osiągnął limit',
      'Właściciel zezwolił na pewną liczbę skanów i wszystkie zostały wykorzystane.',
    ],
    deleted: ['Tego kodu już nie ma', 'Właściciel go usunął i nie będzie już działał.'],
    disabled: ['Ten link jest wyłączony', 'Operator tej usługi go wyłączył.'],
    busy: ['Chwileczkę', 'Usługa jest zajęta. Spróbuj ponownie za kilka sekund.'],
    method: ['Niedozwolona metoda', 'Krótki link przyjmuje tylko żądania GET i HEAD.'],
    startsOn: 'Zacznie działać % UTC. Spróbuj ponownie w tym czasie.',
    report: 'Zgłoś ten link',
  },
  tr: {
    unknown: ['Böyle bir kod yok', 'Bu QR kodu mevcut değil. Bağlantıyı kontrol edin veya size veren kişiye sorun.'],
    paused: ['Bu kod duraklatıldı', 'Sahibi tarafından duraklatıldı. Lütfen daha sonra tekrar deneyin.'],
    draft: ['Bu kod henüz etkin değil', 'Sahibi henüz yayımlamadı. Lütfen daha sonra tekrar deneyin.'],
    not_started: ['Bu kod henüz etkin değil', 'Daha sonra başlıyor. Lütfen o zaman tekrar deneyin.'],
    expired: ['Bu kodun süresi doldu', 'Sahibi bir bitiş zamanı belirledi ve bu zaman geçti.'],
    limit_reached: ['Bu kod sınırına ulaştı', 'Sahibi belirli sayıda taramaya izin verdi ve hepsi kullanıldı.'],
    deleted: ['Bu kod artık yok', 'Sahibi tarafından silindi ve bir daha çalışmayacak.'],
    disabled: ['Bu bağlantı devre dışı', 'Bu hizmetin işletmecisi onu devre dışı bıraktı.'],
    busy: ['Bir dakika lütfen', 'Hizmet meşgul. Lütfen birkaç saniye sonra tekrar deneyin.'],
    method: ['Yönteme izin verilmiyor', 'Kısa bağlantı yalnızca GET ve HEAD isteklerini kabul eder.'],
    startsOn: '% UTC tarihinde başlıyor. Lütfen o zaman tekrar deneyin.',
    report: 'Bu bağlantıyı bildir',
  },
  ar: {
    unknown: ['لا يوجد رمز كهذا', 'رمز QR هذا غير موجود. تحقق من الرابط أو اسأل الشخص الذي أعطاك إياه.'],
    paused: ['هذا الرمز متوقف مؤقتًا', 'أوقفه مالكه مؤقتًا. يرجى المحاولة مرة أخرى لاحقًا.'],
    draft: ['هذا الرمز غير نشط بعد', 'لم ينشره مالكه بعد. يرجى المحاولة مرة أخرى لاحقًا.'],
    not_started: ['هذا الرمز غير نشط بعد', 'سيبدأ لاحقًا. يرجى المحاولة مرة أخرى حينها.'],
    expired: ['انتهت صلاحية هذا الرمز', 'حدد مالكه نهاية له، وقد مضت.'],
    limit_reached: ['بلغ هذا الرمز حده', 'سمح مالكه بعدد من عمليات المسح، وقد استُخدمت كلها.'],
    deleted: ['لم يعد هذا الرمز موجودًا', 'حذفه مالكه ولن يعمل مرة أخرى.'],
    disabled: ['هذا الرابط معطل', 'عطله مشغل هذه الخدمة.'],
    busy: ['لحظة من فضلك', 'الخدمة مشغولة. يرجى المحاولة مرة أخرى بعد بضع ثوانٍ.'],
    method: ['الطريقة غير مسموح بها', 'لا يقبل الرابط القصير إلا طلبات GET وHEAD.'],
    startsOn: 'سيبدأ في % UTC. يرجى المحاولة مرة أخرى حينها.',
    report: 'الإبلاغ عن هذا الرابط',
    direction: 'rtl',
  },
  zh: {
    unknown: ['没有这个二维码', '此二维码不存在。请检查链接，或询问向您提供它的人。'],
    paused: ['此二维码已暂停', '其所有者已将其暂停。请稍后再试。'],
    draft: ['此二维码尚未启用', '其所有者尚未发布。请稍后再试。'],
    not_started: ['此二维码尚未启用', '它将在稍后开始。请届时再试。'],
    expired: ['此二维码已过期', '其所有者设定的结束时间已过。'],
    limit_reached: ['此二维码已达到上限', '其所有者允许的扫描次数已全部用完。'],
    deleted: ['此二维码已不存在', '其所有者已将其删除，不会再生效。'],
    disabled: ['此链接已停用', '本服务的运营者已将其停用。'],
    busy: ['请稍候', '服务繁忙。请几秒钟后再试。'],
    method: ['不允许的方法', '短链接只接受 GET 和 HEAD 请求。'],
    startsOn: '它将于 % UTC 开始。请届时再试。',
    report: '举报此链接',
  },
  ja: {
    unknown: ['このコードはありません', 'この QR コードは存在しません。リンクを確認するか、提供元にお尋ねください。'],
    paused: ['このコードは一時停止中です', '所有者が一時停止しました。後でもう一度お試しください。'],
    draft: ['このコードはまだ有効ではありません', '所有者がまだ公開していません。後でもう一度お試しください。'],
    not_started: ['このコードはまだ有効ではありません', '後で開始します。その時にもう一度お試しください。'],
    expired: ['このコードは期限切れです', '所有者が設定した終了日時を過ぎました。'],
    limit_reached: ['このコードは上限に達しました', '所有者が許可した回数のスキャンがすべて使われました。'],
    deleted: ['このコードはもうありません', '所有者が削除したため、今後は使えません。'],
    disabled: ['このリンクは無効です', 'このサービスの運営者が無効にしました。'],
    busy: ['少々お待ちください', 'サービスが混み合っています。数秒後にもう一度お試しください。'],
    method: ['許可されていないメソッド', '短縮リンクは GET と HEAD のリクエストのみ受け付けます。'],
    startsOn: '% UTC に開始します。その時にもう一度お試しください。',
    report: 'このリンクを報告',
  },
};
