-- Why a step is tried again, for readers of Chinese too; last_error is the English one.
ALTER TABLE operations ADD COLUMN last_error_zh TEXT NOT NULL DEFAULT '';
