import type { Texts } from './texts.ts';

export const es: Texts = {
  direction: 'ltr',
  share: {
    scans: 'Escaneos',
    visitors: 'Visitantes',
    periods: { '7d': '7 días', '30d': '30 días', '90d': '90 días', '12m': '12 meses' },
    perDay: 'Escaneos por día',
    perMonth: 'Escaneos por mes',
    codes: 'Códigos',
    countries: 'Países',
    devices: 'Dispositivos',
    browsers: 'Navegadores',
    other: 'Otros',
    unknown: 'Desconocido',
    few: 'menos de 5',
    nothing: 'No hay escaneos en este periodo.',
    asTable: 'Como tabla',
    date: 'Fecha',
    notes: {
      hidden: 'Las cifras de menos de 5 visitantes no se muestran.',
      withoutBots: 'Los bots no se cuentan.',
      timezone: 'Zona horaria: %',
    },
    missing: [
      'Esta página no existe',
      'Ha terminado, o el enlace está incompleto. Pregunte a la persona que se lo dio.',
    ],
    password: 'Contraseña',
    open: 'Abrir',
    isProtected: 'Esta página está protegida con una contraseña.',
    wrongPassword: 'La contraseña es incorrecta.',
    tooManyTries: 'Demasiados intentos. Espere un minuto.',
  },
  report: {
    weekly: 'Informe semanal',
    monthly: 'Informe mensual',
    comparedWith: (period) => `Comparación: ${period}.`,
    before: (figure) => `antes: ${figure}`,
    page: (number, count) => `Página ${number} de ${count}`,
    cities: 'Ciudades',
    share: 'Parte',
    change: 'Cambio',
    noChange: 'sin cambios',
    isNew: 'nuevo',
    otherCodes: (count) => `Otros códigos con escaneos: ${count}`,
    unnamed: '(nombre no imprimible)',
    appleMobile: 'iPhone y iPad',
    computer: 'Ordenador',
    attached: 'El informe completo va adjunto.',
    reason: (owner) => `Recibe este informe porque ${owner} añadió su dirección.`,
  },
  unsubscribe: {
    unsubscribe: 'Darse de baja',
    subscribeAgain: 'Volver a suscribirse',
    isUnsubscribed: 'Se ha dado de baja',
    isMailed: (name, address) => `«${name}» se envía a ${address}.`,
    isNotMailed: (name, address) => `«${name}» ya no se envía a ${address}.`,
    missing: ['Este enlace no lleva a ninguna parte', 'Ya no recibe correos por él, o el enlace está incompleto.'],
  },
  alert: {
    silent: {
      title: (name) => `«${name}» ya no se escanea`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `«${name}» ya no se escanea. Tiempo sin escaneos: ${duration}. En las mismas horas de ${weeks} semanas anteriores tuvo ${average} de media, y nunca menos de ${extreme}. Compruebe que el código impreso sigue ahí y se ve, y que su enlace funciona.`,
      over: (name) => `«${name}» vuelve a escanearse.`,
    },
    spike: {
      title: (name) => `«${name}» se escanea mucho más de lo habitual`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `«${name}» ha tenido ${scans} escaneos. Tiempo: ${duration}. En las mismas horas de ${weeks} semanas anteriores tuvo ${average} de media, y nunca más de ${extreme}. Las estadísticas muestran de dónde vienen los escaneos.`,
      over: (name) => `«${name}» vuelve a escanearse más o menos como siempre.`,
    },
    scans: {
      near: (name) => `«${name}» casi ha agotado sus escaneos`,
      usedUp: (name) => `«${name}» ha agotado sus escaneos`,
      message: (name, used, max) =>
        `«${name}» ha tenido ${used} de sus ${max} escaneos. Cuando no quede ninguno, los visitantes ya no llegarán a su destino. Puede aumentar el límite del código.`,
    },
    down: {
      title: (name) => `El sitio web de «${name}» no funciona`,
      message: ({ name, url, problem, others }) =>
        `«${name}» lleva a ${url}, que ha fallado dos veces en una hora aproximadamente. ${problem}${others === 0 ? '' : ` Otras direcciones del código que tampoco funcionan: ${others}.`} Quienes escanean el código ven un error. Repare el sitio web o cambie el destino del código.`,
      over: 'El sitio web responde de nuevo, o el código ya no lleva allí.',
    },
    problems: {
      circles: (host) => `${host} redirige en círculos.`,
      missing: (host, status) => `${host} responde que la página no existe (${status}).`,
      failing: (host, status) => `${host} responde con un error propio (${status}).`,
      unknownHost: (host) => `No se encuentra la dirección de ${host}.`,
      noAnswer: (host) => `${host} no responde.`,
      unreachable: (host, detail) => `No se puede acceder a ${host} (${detail}).`,
    },
    limits: {
      codes: {
        title: 'Al plan casi no le quedan códigos',
        message: (used, limit) =>
          `Existen ${used} de los ${limit} códigos QR de su plan. Después no se podrán crear más; los existentes seguirán funcionando. Elimine algunos o cambie de plan.`,
      },
      domains: {
        title: 'Al plan casi no le quedan dominios',
        message: (used, limit) =>
          `Se usan ${used} de los ${limit} dominios de su plan. Después no se podrán añadir más; los existentes seguirán funcionando.`,
      },
      short_codes: {
        title: 'Al plan casi no le quedan códigos cortos elegidos',
        message: (used, limit) =>
          `En los últimos 30 días se eligieron ${used} de ${limit} códigos cortos. Después, los códigos nuevos recibirán uno generado; los existentes seguirán funcionando.`,
      },
      disk: {
        title: 'El disco de este servicio está casi lleno',
        message: (used, limit) =>
          `Se usan ${used} de ${limit} MB del disco que guarda los escaneos hasta que se almacenan. Cuando esté lleno, los enlaces cortos dejarán de funcionar. Libere espacio o use un disco mayor.`,
      },
    },
    limitOver: 'Vuelve a quedar suficiente.',
    domain: {
      title: (name) => `El dominio ${name} ya no está bien configurado`,
      message: (name, found) =>
        `Los enlaces de ${name} todavía funcionan, pero el dominio ya no supera nuestras comprobaciones. ${found} Si sus registros se cambiaron por error, póngalos como muestra su página.`,
      over: 'El dominio vuelve a superar todas las comprobaciones, o se ha eliminado.',
    },
    paused: 'La alerta se ha pausado.',
    unwatched: 'El código ya no se vigila: se ha pausado, cambiado o eliminado, o ha terminado.',
    over: (title) => `Terminado: ${title}`,
    more: (count) => `Y ${count} más.`,
    showMore: 'Ver más',
    showAll: 'Ver todo',
    changes: (name, count) => `${name}: ${count} cambios`,
    reason: (name) => `Recibe este correo porque su dirección se añadió a la alerta «${name}».`,
  },
};
