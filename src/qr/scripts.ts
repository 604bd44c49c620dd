/** Scripts that the font of frames lacks, and that would need shaping or thousands of outlines. */
const scripts = {
  Arabic: /\p{Script_Extensions=Arabic}/u,
  Hebrew: /\p{Script_Extensions=Hebrew}/u,
  Thai: /\p{Script_Extensions=Thai}/u,
  Devanagari: /\p{Script_Extensions=Devanagari}/u,
  Chinese: /\p{Script_Extensions=Han}/u,
  Japanese: /[\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}]/u,
  Korean: /\p{Script_Extensions=Hangul}/u,
};
const patterns = Object.entries(scripts);

/**
 * Names the scripts of characters, and the characters of any other script.
 *
 * @example describeCharacters(['ق', 'ا', '☕']) // 'Arabic characters, “☕”'
 */
export function describeCharacters(characters: readonly string[]): string {
  const names = patterns.flatMap(([name, pattern]) => (characters.some((char) => pattern.test(char)) ? [name] : []));
  const others = characters.filter((char) => !patterns.some(([, pattern]) => pattern.test(char)));
  return [
    ...(names.length === 0 ? [] : [`${names.join(' and ')} characters`]),
    ...others.map((char) => `“${char}”`),
  ].join(', ');
}
