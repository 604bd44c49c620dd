import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { errorAt } from '../parts/field-errors.ts';
import type { FieldErrors } from '../parts/use-action.ts';
import type { RuleForm } from './form.ts';

const moved = (rules: RuleForm[], from: number, to: number): RuleForm[] => {
  const [rule, others] = [rules[from], rules.toSpliced(from, 1)];
  return rule === undefined ? rules : others.toSpliced(to, 0, rule);
};

/** Which rules are open, and changes of their list, which keep the focus and are announced to screen readers. */
export function useRuleList(rules: RuleForm[], onRules: (rules: RuleForm[]) => void, errors: FieldErrors) {
  const [openKeys, setOpenKeys] = useState<ReadonlySet<number>>(new Set());
  const [announcement, setAnnouncement] = useState('');
  const addButton = useRef<HTMLButtonElement>(null);
  const focused = useRef<Element | null>(null);
  // An element that moves within the document loses the focus.
  useLayoutEffect(() => {
    if (focused.current instanceof HTMLElement) focused.current.focus();
    focused.current = null;
  }, [rules]);
  const toggle = (key: number, isOpen: boolean) =>
    setOpenKeys((before) => new Set(isOpen ? [...before, key] : [...before].filter((other) => other !== key)));
  // A rule with an error has to be open for the user to see it.
  useLayoutEffect(() => {
    for (const [i, { key }] of rules.entries()) if (errorAt(errors, `rules[${i}]`) !== undefined) toggle(key, true);
  }, [errors]);
  return {
    announcement,
    addButton,
    isOpen: ({ key }: RuleForm) => openKeys.has(key),
    toggle,
    add(rule: RuleForm) {
      onRules([...rules, rule]);
      toggle(rule.key, true);
    },
    move(from: number, to: number) {
      focused.current = document.activeElement;
      onRules(moved(rules, from, to));
      setAnnouncement(`Rule ${from + 1} is now rule ${to + 1} of ${rules.length}.`);
    },
    remove(index: number) {
      onRules(rules.toSpliced(index, 1));
      setAnnouncement(`Rule ${index + 1} removed.`);
      // The button that had the focus is gone.
      addButton.current?.focus();
    },
  };
}
