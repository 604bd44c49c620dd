const width = 30;
const lineEveryMs = 5_000;

/** Shows the progress of a long step on stderr: a bar on a terminal, a line every 5 s elsewhere. */
export function progressBar(what: string) {
  const out = process.stderr;
  const started = performance.now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let complete = false;

  function update(done: number, total: number): void {
    const now = performance.now();
    const everyMs = out.isTTY ? 100 : lineEveryMs;
    if (now - shownAt < everyMs && done < total) return;
    // 100 % is printed once.
    if (complete) return;
    complete = done >= total;
    shownAt = now;
    const share = total === 0 ? 1 : done / total;
    const seconds = (now - started) / 1000;
    const rate = seconds > 0 ? Math.round(done / seconds) : 0;
    const left = rate > 0 ? `${Math.ceil((total - done) / rate)} s left` : '';
    const counts = `${done.toLocaleString('en')} of ${total.toLocaleString('en')}  ${rate.toLocaleString('en')}/s  ${left}`;
    const filled = Math.round(share * width);
    if (out.isTTY) out.write(`\r${what} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${counts}\x1b[K`);
    else out.write(`${what}: ${Math.floor(share * 100)} %  ${counts}\n`);
  }

  return {
    update,
    end: () => {
      if (out.isTTY) out.write('\n');
    },
  };
}

/** Shows on stderr how far a step of unknown length is: a line that changes on a terminal, a line every 5 s elsewhere. */
export function progressLine() {
  const out = process.stderr;
  let shownAt = performance.now();
  return {
    update(text: string): void {
      if (performance.now() - shownAt < (out.isTTY ? 100 : lineEveryMs)) return;
      shownAt = performance.now();
      out.write(out.isTTY ? `\r${text}\x1b[K` : `${text}\n`);
    },
    /** Before anything else is printed. */
    clear(): void {
      if (out.isTTY) out.write('\r\x1b[K');
    },
  };
}
