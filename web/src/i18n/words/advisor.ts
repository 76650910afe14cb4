export const advisor = {} as const;
