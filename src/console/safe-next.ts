/**
 * Path and query if they are of a console page, else `/console`: a redirect target that cannot leave the console. The
 * query has the characters that browsers send.
 */
export const safeNext = (location: string) =>
  /^\/console(\/[\w-]+)*\/?(\?[\w\-.~!$&'()*+,;=:@/?%]*)?$/.test(location) ? location : '/console';
