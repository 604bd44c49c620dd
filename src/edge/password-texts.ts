/** The words of the form of a link with a password. */
export interface PasswordTexts {
  title: string;
  text: string;
  label: string;
  open: string;
  wrong: string;
  tooMany: string;
}

export const en: PasswordTexts = {
  title: 'This link has a password',
  text: 'Enter it to go on. The person who gave you the code knows it.',
  label: 'Password',
  open: 'Open',
  wrong: 'That is not the password.',
  tooMany: 'Too many tries. Please wait a minute.',
};

/** By the primary subtag of a language; English is the fallback. */
export const passwordTexts: Record<string, PasswordTexts> = {
  en,
  de: {
    title: 'Dieser Link hat ein Passwort',
    text: 'Geben Sie es ein, um fortzufahren. Die Person, von der Sie den Code haben, kennt es.',
    label: 'Passwort',
    open: 'Öffnen',
    wrong: 'Das ist nicht das Passwort.',
    tooMany: 'Zu viele Versuche. Bitte warten Sie eine Minute.',
  },
  fr: {
    title: 'Ce lien a un mot de passe',
    text: 'Saisissez-le pour continuer. La personne qui vous a donné le code le connaît.',
    label: 'Mot de passe',
    open: 'Ouvrir',
    wrong: 'Ce n’est pas le mot de passe.',
    tooMany: 'Trop d’essais. Veuillez patienter une minute.',
  },
  es: {
    title: 'Este enlace tiene contraseña',
    text: 'Escríbala para continuar. La persona que le dio el código la conoce.',
    label: 'Contraseña',
    open: 'Abrir',
    wrong: 'Esa no es la contraseña.',
    tooMany: 'Demasiados intentos. Espere un minuto.',
  },
  it: {
    title: 'Questo link ha una password',
    text: 'Inseriscila per continuare. La conosce chi ti ha dato il codice.',
    label: 'Password',
    open: 'Apri',
    wrong: 'Non è la password giusta.',
    tooMany: 'Troppi tentativi. Attendi un minuto.',
  },
  pt: {
    title: 'Este link tem uma palavra-passe',
    text: 'Introduza-a para continuar. Quem lhe deu o código conhece-a.',
    label: 'Palavra-passe',
    open: 'Abrir',
    wrong: 'Essa não é a palavra-passe.',
    tooMany: 'Demasiadas tentativas. Aguarde um minuto.',
  },
  nl: {
    title: 'Deze link heeft een wachtwoord',
    text: 'Voer het in om verder te gaan. De persoon van wie u de code heeft, kent het.',
    label: 'Wachtwoord',
    open: 'Openen',
    wrong: 'Dat is niet het wachtwoord.',
    tooMany: 'Te veel pogingen. Wacht een minuut.',
  },
  pl: {
    title: 'Ten link ma hasło',
    text: 'Wpisz je, aby kontynuować. Zna je osoba, od której masz kod.',
    label: 'Hasło',
    open: 'Otwórz',
    wrong: 'To nie jest to hasło.',
    tooMany: 'Zbyt wiele prób. Poczekaj minutę.',
  },
  tr: {
    title: 'Bu bağlantının bir parolası var',
    text: 'Devam etmek için parolayı girin. Kodu size veren kişi onu bilir.',
    label: 'Parola',
    open: 'Aç',
    wrong: 'Parola bu değil.',
    tooMany: 'Çok fazla deneme. Lütfen bir dakika bekleyin.',
  },
  ar: {
    title: 'هذا الرابط محمي بكلمة مرور',
    text: 'أدخلها للمتابعة. الشخص الذي أعطاك الرمز يعرفها.',
    label: 'كلمة المرور',
    open: 'فتح',
    wrong: 'كلمة المرور هذه غير صحيحة.',
    tooMany: 'محاولات كثيرة جدًا. يرجى الانتظار دقيقة.',
  },
  zh: {
    title: '此链接需要密码',
    text: '请输入密码以继续。向您提供二维码的人知道密码。',
    label: '密码',
    open: '打开',
    wrong: '密码不正确。',
    tooMany: '尝试次数过多，请等待一分钟。',
  },
  ja: {
    title: 'このリンクにはパスワードが必要です',
    text: '続けるにはパスワードを入力してください。コードの提供元が知っています。',
    label: 'パスワード',
    open: '開く',
    wrong: 'パスワードが違います。',
    tooMany: '試行回数が多すぎます。1 分ほどお待ちください。',
  },
};
