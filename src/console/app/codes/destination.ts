/** People write addresses without what every address begins with. */
export const completed = (url: string) => {
  const text = url.trim();
  return text === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
};
