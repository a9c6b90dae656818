// Says of each file that is named whether it is PDF/A-2a and PDF/UA-1: nothing where it is, a line a failure where not.

import java.io.FileInputStream;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.results.ValidationResult;

public class Check {
    public static void main(String[] files) throws Exception {
        VeraGreenfieldFoundryProvider.initialise();
        boolean good = true;
        for (String file : files) {
            for (PDFAFlavour flavour : new PDFAFlavour[] {PDFAFlavour.PDFA_2_A, PDFAFlavour.PDFUA_1}) {
                good &= check(file, flavour);
            }
        }
        System.exit(good ? 0 : 1);
    }

    private static boolean check(String file, PDFAFlavour flavour) throws Exception {
        try (FileInputStream stream = new FileInputStream(file);
                PDFAParser parser = Foundries.defaultInstance().createParser(stream, flavour);
                PDFAValidator validator = Foundries.defaultInstance().createValidator(flavour, false)) {
            ValidationResult result = validator.validate(parser);
            for (TestAssertion failure : result.getTestAssertions()) {
                if (failure.getStatus() == TestAssertion.Status.FAILED) {
                    System.out.println(file + ": " + flavour + ": " + failure.getRuleId() + ": " + failure.getMessage());
                }
            }
            if (result.getTestAssertions().isEmpty() && !result.isCompliant()) {
                System.out.println(file + ": " + flavour + ": not compliant");
            }
            return result.isCompliant();
        }
    }
}
