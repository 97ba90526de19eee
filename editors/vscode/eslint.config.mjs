import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["out/"] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } } },
  { files: ["src/test/**"], rules: { "@typescript-eslint/no-floating-promises": "off" } },
  { files: ["*.mjs"], extends: [tseslint.configs.disableTypeChecked] },
);
