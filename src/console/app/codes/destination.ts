/** Adds `https://` to a URL that was entered without a scheme. */
export const withScheme = (url: string) => {
  const text = url.trim();
  return text === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
};
