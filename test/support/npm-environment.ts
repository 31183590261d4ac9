/** This process's environment for an npm in another folder: variables that npm has for the script that it runs would mislead that one. */
export const npmEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package|config_local_prefix)/.test(name)),
)
