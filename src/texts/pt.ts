import type { Texts } from './texts.ts';

export const pt: Texts = {
  direction: 'ltr',
  share: {
    scans: 'Leituras',
    visitors: 'Visitantes',
    periods: { '7d': '7 dias', '30d': '30 dias', '90d': '90 dias', '12m': '12 meses' },
    perDay: 'Leituras por dia',
    perMonth: 'Leituras por mês',
    codes: 'Códigos',
    countries: 'Países',
    devices: 'Dispositivos',
    browsers: 'Navegadores',
    other: 'Outros',
    unknown: 'Desconhecido',
    few: 'menos de 5',
    nothing: 'Nenhuma leitura neste período.',
    asTable: 'Como tabela',
    date: 'Data',
    notes: {
      hidden: 'Os números de menos de 5 visitantes não são mostrados.',
      withoutBots: 'Os bots não são contados.',
      timezone: 'Fuso horário: %',
    },
    missing: ['Esta página não existe', 'Ela terminou, ou o link está incompleto. Pergunte a quem o deu a você.'],
    password: 'Senha',
    open: 'Abrir',
    isProtected: 'Esta página é protegida por uma senha.',
    wrongPassword: 'A senha está errada.',
    tooManyTries: 'Muitas tentativas. Aguarde um minuto.',
  },
  report: {
    weekly: 'Relatório semanal',
    monthly: 'Relatório mensal',
    comparedWith: (period) => `Comparação: ${period}.`,
    before: (figure) => `antes: ${figure}`,
    page: (number, count) => `Página ${number} de ${count}`,
    cities: 'Cidades',
    share: 'Parcela',
    change: 'Variação',
    noChange: 'sem mudança',
    isNew: 'novo',
    otherCodes: (count) => `Outros códigos com leituras: ${count}`,
    unnamed: '(nome não imprimível)',
    appleMobile: 'iPhone e iPad',
    computer: 'Computador',
    attached: 'O relatório completo está em anexo.',
    reason: (owner) => `Você recebe este relatório porque ${owner} adicionou o seu endereço.`,
  },
  unsubscribe: {
    unsubscribe: 'Cancelar a assinatura',
    subscribeAgain: 'Assinar de novo',
    isUnsubscribed: 'Assinatura cancelada',
    isMailed: (name, address) => `“${name}” é enviado para ${address}.`,
    isNotMailed: (name, address) => `“${name}” não é mais enviado para ${address}.`,
    missing: [
      'Este link não leva a lugar nenhum',
      'Você não recebe mais mensagens por ele, ou o link está incompleto.',
    ],
  },
  alert: {
    silent: {
      title: (name) => `“${name}” não é mais lido`,
      message: ({ name, duration, weeks, average, extreme }) =>
        `“${name}” não é mais lido. Tempo sem leituras: ${duration}. Nas mesmas horas de ${weeks} semanas anteriores teve ${average} em média, e nunca menos de ${extreme}. Verifique se o código impresso ainda está lá e visível, e se o link funciona.`,
      over: (name) => `“${name}” voltou a ser lido.`,
    },
    spike: {
      title: (name) => `“${name}” é lido muito mais do que de costume`,
      message: ({ name, scans, duration, weeks, average, extreme }) =>
        `“${name}” teve ${scans} leituras. Tempo: ${duration}. Nas mesmas horas de ${weeks} semanas anteriores teve ${average} em média, e nunca mais de ${extreme}. As estatísticas mostram de onde vêm as leituras.`,
      over: (name) => `“${name}” voltou a ser lido mais ou menos como de costume.`,
    },
    scans: {
      near: (name) => `“${name}” quase esgotou as suas leituras`,
      usedUp: (name) => `“${name}” esgotou as suas leituras`,
      message: (name, used, max) =>
        `“${name}” teve ${used} das suas ${max} leituras. Quando não restar nenhuma, os visitantes não chegam mais ao destino. Você pode aumentar o limite do código.`,
    },
    down: {
      title: (name) => `O site de “${name}” está fora do ar`,
      message: ({ name, url, problem, others }) =>
        `“${name}” leva a ${url}, que falhou duas vezes em cerca de uma hora. ${problem}${others === 0 ? '' : ` Outros endereços do código que também estão fora do ar: ${others}.`} Quem lê o código vê um erro. Conserte o site ou mude o destino do código.`,
      over: 'O site voltou a responder, ou o código não leva mais até lá.',
    },
    problems: {
      circles: (host) => `${host} redireciona em círculos.`,
      missing: (host, status) => `${host} responde que a página não existe (${status}).`,
      failing: (host, status) => `${host} responde com um erro próprio (${status}).`,
      unknownHost: (host) => `O endereço de ${host} não foi encontrado.`,
      noAnswer: (host) => `${host} não responde.`,
      unreachable: (host, detail) => `Não é possível acessar ${host} (${detail}).`,
    },
    limits: {
      codes: {
        title: 'O plano quase não tem mais códigos',
        message: (used, limit) =>
          `Existem ${used} dos ${limit} códigos QR do seu plano. Depois não é possível criar outros; os existentes continuam funcionando. Exclua alguns ou mude de plano.`,
      },
      domains: {
        title: 'O plano quase não tem mais domínios',
        message: (used, limit) =>
          `Estão em uso ${used} dos ${limit} domínios do seu plano. Depois não é possível adicionar outros; os existentes continuam funcionando.`,
      },
      short_codes: {
        title: 'O plano quase não tem mais códigos curtos escolhidos',
        message: (used, limit) =>
          `Nos últimos 30 dias foram escolhidos ${used} de ${limit} códigos curtos. Depois, os novos códigos recebem um gerado; os existentes continuam funcionando.`,
      },
      disk: {
        title: 'O disco deste serviço está quase cheio',
        message: (used, limit) =>
          `Estão em uso ${used} de ${limit} MB do disco que guarda as leituras até serem armazenadas. Quando ficar cheio, os links curtos param de funcionar. Libere espaço ou use um disco maior.`,
      },
    },
    limitOver: 'Voltou a haver o suficiente.',
    domain: {
      title: (name) => `O domínio ${name} não está mais configurado corretamente`,
      message: (name, found) =>
        `Os links em ${name} ainda funcionam, mas o domínio não passa mais nas nossas verificações. ${found} Se os registros foram alterados por engano, configure-os como mostra a página do domínio.`,
      over: 'O domínio voltou a passar em todas as verificações, ou foi removido.',
    },
    paused: 'O alerta foi pausado.',
    unwatched: 'O código não é mais observado: foi pausado, alterado ou excluído, ou terminou.',
    over: (title) => `Terminou: ${title}`,
    more: (count) => `E mais ${count}.`,
    showMore: 'Ver mais',
    showAll: 'Ver tudo',
    changes: (name, count) => `${name}: ${count} mudanças`,
    reason: (name) => `Você recebe esta mensagem porque o seu endereço foi adicionado ao alerta “${name}”.`,
  },
};
