; check_end.uc: where the programs of this folder end; see check.uc.

passed#:
    halt
failed#:
    .use failed_check found expected
    halt
